"""From the shelf that a search sees to its proposals: by words and by vectors in turns, and what is next to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rememberd.ports.candidates import Candidates
from rememberd.ports.index import NEIGHBOURED

from .view import View

if TYPE_CHECKING:
    from rememberd.ports.index import Search

    from .shelf import Shelf
    from .view import Places

_NEVER = np.iinfo(np.intp).max


def propose(shelf: Shelf, search: Search, watermark: int) -> Candidates:
    view = View(shelf, search)
    if not len(view):
        return Candidates.none(search, watermark)
    if search.terms or search.vectors:
        chosen = _in_turns(view.by_words(), view.by_vectors(), len(view))[: search.limit]
    else:
        chosen = view.latest()
    if search.reach:
        near = view.neighbours(chosen[:NEIGHBOURED], search.reach)
        chosen = np.concatenate([chosen, _without(near, chosen, len(view))])
    return Candidates(
        proposals=view.proposals(chosen),
        watermark=watermark,
        documents=len(view),
        average_length=view.average_length,
        frequencies=view.frequencies,
        background=view.background,
    )


def _in_turns(worded: Places, near: Places, size: int) -> Places:
    """One by words, one by vectors, and so on, each once."""
    turns = np.full(size, _NEVER)
    turns[near] = np.arange(1, 2 * len(near), 2)
    turns[worded] = np.minimum(turns[worded], np.arange(0, 2 * len(worded), 2))
    having = (turns < _NEVER).nonzero()[0]
    return having[turns[having].argsort()]


def _without(places: Places, left_out: Places, size: int) -> Places:
    kept = np.zeros(size, bool)
    kept[places] = True
    kept[left_out] = False
    return kept.nonzero()[0]
