"""From the shelves that a search sees to its proposals: by words and by vectors in turns, and what is next to them.

The rows of all views are numbered through, those of the first view first.
"""

from __future__ import annotations

import functools
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from rememberd.language.weigh import rarity
from rememberd.ports.candidates import Candidates, Proposals
from rememberd.ports.index import NEIGHBOURED

if TYPE_CHECKING:
    from rememberd.ports.index import Search

    from .view import Ranking, Rows, View

_NEVER = np.iinfo(np.intp).max


def propose(views: list[View], search: Search, watermark: int) -> Candidates:
    documents = sum(view.documents for view in views)
    average = sum(view.length for view in views) / documents if documents else 0.0
    frequencies = np.sum([view.frequencies for view in views], axis=0)
    rare = np.array([rarity(documents, frequency) for frequency in frequencies.tolist()])
    together = _Together(views)
    if search.terms or search.vectors:
        worded = together.ranked([view.by_words(rare, average) for view in views])
        near = together.ranked([view.by_vectors() for view in views])
        chosen = together.in_turns(worded, near)[: search.limit]
    else:
        chosen = together.ranked([view.latest() for view in views])[: search.limit]
    if search.reach:
        chosen = np.concatenate([chosen, together.neighbours(chosen, search.reach)])
    return Candidates(
        proposals=together.proposals(chosen),
        watermark=watermark,
        documents=documents,
        average_length=average,
        frequencies=dict(zip(search.terms, frequencies.tolist(), strict=True)),
        background=_background(views, search),
    )


class _Together:
    """Some views as if they were one."""

    def __init__(self, views: list[View]) -> None:
        self._views = views
        self._starts = [0, *accumulate(len(view) for view in views)]

    def ranked(self, rankings: list[Ranking]) -> Rows:
        """The rows of all views, best first."""
        rows = np.concatenate([rows + start for start, (rows, _) in zip(self._starts, rankings, strict=False)])
        return rows[np.argsort(-np.concatenate([scores for _, scores in rankings]), kind="stable")]

    def in_turns(self, worded: Rows, near: Rows) -> Rows:
        """One by words, one by vectors, and so on, each once."""
        turns = np.full(self._starts[-1], _NEVER)
        turns[near] = np.arange(1, 2 * len(near), 2)
        turns[worded] = np.minimum(turns[worded], np.arange(0, 2 * len(worded), 2))
        having = np.flatnonzero(turns < _NEVER)
        return having[np.argsort(turns[having])]

    def neighbours(self, chosen: Rows, reach: int) -> Rows:
        """What is next to the best of the chosen, and not among them."""
        near = np.zeros(self._starts[-1], bool)
        for start, view in zip(self._starts, self._views, strict=False):
            near[start + view.neighbours(self._of(start, view, chosen[:NEIGHBOURED]), reach)] = True
        near[chosen] = False
        return np.flatnonzero(near)

    def proposals(self, chosen: Rows) -> Proposals:
        """What is told of the chosen, in their order."""
        if len(self._views) == 1:
            return self._views[0].proposals(chosen)
        parts = zip(self._starts, self._views, strict=False)
        told = [view.proposals(self._of(start, view, chosen)) for start, view in parts]
        view_of = np.searchsorted(self._starts, chosen, "right")
        return functools.reduce(Proposals.joined, told).take(np.argsort(np.argsort(view_of, kind="stable")))

    @staticmethod
    def _of(start: int, view: View, chosen: Rows) -> Rows:
        """Those of one view, as it numbers them."""
        rows: Rows = chosen[(chosen >= start) & (chosen < start + len(view))] - start
        return rows


def _background(views: list[View], search: Search) -> dict[str, float]:
    """The mean cosine of all that is in sight, per lane."""
    means = {}
    for lane in search.vectors:
        compared = [view.background(lane) for view in views]
        number = sum(count for count, _ in compared)
        if number:
            means[lane] = sum(total for _, total in compared) / number
    return means
