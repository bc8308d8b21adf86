"""From the shelves that a search sees to its proposals: by words and by vectors in turns, and what is next to them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from rememberd.language.weigh import rarity
from rememberd.ports.candidates import Candidates, Proposals
from rememberd.ports.index import NEIGHBOURED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rememberd.ports.index import Search

    from .view import Ranking, Rows, View

    Chosen = NDArray[np.intp]  # rows of several views

_ROW_BITS = 40


def propose(views: list[View], search: Search, watermark: int) -> Candidates:
    documents = sum(view.documents for view in views)
    average = sum(view.length for view in views) / documents if documents else 0.0
    frequencies = np.sum([view.frequencies for view in views], axis=0)
    rare = np.array([rarity(documents, frequency) for frequency in frequencies.tolist()])
    if search.terms or search.vectors:
        worded = _ranked([view.by_words(rare, average) for view in views])
        near = _ranked([view.by_vectors() for view in views])
        chosen = _in_turns(worded, near)[: search.limit]
    else:
        chosen = _ranked([view.latest() for view in views])[: search.limit]
    chosen = _with_neighbours(views, chosen, search.reach)
    told = [view.proposals(_rows_of(i, chosen)) for i, view in enumerate(views)]
    order = np.argsort(np.argsort(chosen >> _ROW_BITS, kind="stable"))  # they come view by view
    proposals = functools.reduce(Proposals.joined, told).take(order)
    return Candidates(
        proposals=proposals,
        watermark=watermark,
        documents=documents,
        average_length=average,
        frequencies=dict(zip(search.terms, frequencies.tolist(), strict=True)),
        background=_background(views, search),
    )


def _places(view: int, rows: Rows) -> Chosen:
    """Rows of a view as numbers that tell the view too."""
    places: Chosen = rows + (view << _ROW_BITS)
    return places


def _rows_of(view: int, chosen: Chosen) -> Rows:
    rows: Rows = chosen[chosen >> _ROW_BITS == view] & ((1 << _ROW_BITS) - 1)
    return rows


def _ranked(rankings: list[Ranking]) -> Chosen:
    """The rows of all views, best first."""
    chosen = np.concatenate([_places(i, rows) for i, (rows, _) in enumerate(rankings)])
    return chosen[np.argsort(-np.concatenate([scores for _, scores in rankings]), kind="stable")]


def _in_turns(worded: Chosen, near: Chosen) -> Chosen:
    """One by words, one by vectors, and so on, each once."""
    both = np.concatenate([worded, near])
    turns = np.concatenate([2 * np.arange(len(worded)), 2 * np.arange(len(near)) + 1])
    both = both[np.argsort(turns, kind="stable")]
    _, first = np.unique(both, return_index=True)
    return both[np.sort(first)]


def _with_neighbours(views: list[View], chosen: Chosen, reach: int) -> Chosen:
    """What was proposed, and besides it the neighbours of the best."""
    if not reach:
        return chosen
    best = chosen[:NEIGHBOURED]
    near = [_places(i, view.neighbours(_rows_of(i, best), reach)) for i, view in enumerate(views)]
    return np.concatenate([chosen, np.setdiff1d(np.concatenate(near), chosen)])


def _background(views: list[View], search: Search) -> dict[str, float]:
    """The mean cosine of all that is in sight, per lane."""
    means = {}
    for lane in search.vectors:
        compared = [view.background(lane) for view in views]
        number = sum(count for count, _ in compared)
        if number:
            means[lane] = sum(total for _, total in compared) / number
    return means
