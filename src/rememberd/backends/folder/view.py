"""A shelf as one search sees it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from rememberd.language.weigh import saturation
from rememberd.model import Filters
from rememberd.ports.candidates import Proposals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rememberd.ports.index import Search

    from .shelf import Shelf

    Rows = NDArray[np.intp]
    Floats = NDArray[np.float32]
    Scores = NDArray[np.float32] | NDArray[np.float64]
    Ranking = tuple[Rows, Scores]

_NO_FILTERS = Filters()


class View:
    """Everything is asked of rows; a ranking is rows with their scores, in no particular order."""

    def __init__(self, shelf: Shelf, search: Search) -> None:
        self._shelf = shelf
        self._search = search
        self._sight = shelf.in_sight(search.scope.agent, everyone=search.everyone)
        plain = search.filters == _NO_FILTERS
        self.admitted = self._sight if plain else shelf.admitted(self._sight, search.filters)
        self.documents = int(np.count_nonzero(self._sight))
        self.length = float(shelf.lengths.sum(where=self._sight))
        self._matches = shelf.postings.of(search.terms).where(self._sight)
        self.frequencies = np.bincount(self._matches.terms, minlength=len(search.terms))
        self._vectors = {lane: np.frombuffer(data, "<f4") for lane, data in search.vectors.items()}
        self._cosines = {lane: np.full(len(self), np.nan, np.float32) for lane in search.vectors}

    def __len__(self) -> int:
        return len(self._sight)

    def by_words(self, rare: NDArray[np.float64], average: float) -> Ranking:
        """The rows that match by words."""
        found, size = self._matches, len(self)
        worth = rare[found.terms] * saturation(found.counts, self._shelf.lengths[found.rows], average)
        scores = np.bincount(found.rows, worth, minlength=size).astype(np.float32)
        matching = self.admitted & (scores > 0)
        if self._search.match == "all":
            matching &= np.bincount(found.rows, minlength=size) == len(self._search.terms)
        return self._best(np.flatnonzero(matching), scores)

    def by_vectors(self) -> Ranking:
        """The rows that have a vector to compare, each by the lane in which it is nearest."""
        for name, vector in self._vectors.items():
            lane = self._shelf.lane(name, len(vector))
            if lane is not None:
                rows, cosines = lane.nearest(vector, self.admitted)
                self._cosines[name][rows] = cosines
        scores = functools.reduce(np.fmax, self._cosines.values(), np.full(len(self), np.nan, np.float32))
        return self._best(np.flatnonzero(~np.isnan(scores)), scores)

    def latest(self) -> Ranking:
        return self._best(np.flatnonzero(self.admitted), self._shelf.seconds)

    def background(self, name: str) -> tuple[int, float]:
        """How many vectors of a lane are in sight, and the sum of their cosines."""
        vector = self._vectors[name]
        lane = self._shelf.lane(name, len(vector))
        return (0, 0.0) if lane is None else lane.background(vector, self._sight)

    def neighbours(self, rows: Rows, reach: int) -> Rows:
        near = self._shelf.neighbours(rows, reach)
        return near[self.admitted[near]]

    def proposals(self, rows: Rows) -> Proposals:
        """What is told of some rows."""
        place = np.full(len(self), -1)
        place[rows] = np.arange(len(rows))
        at = place[self._matches.rows]
        chosen = at >= 0
        counts = np.zeros((len(rows), len(self._search.terms)), np.float32)
        counts[at[chosen], self._matches.terms[chosen]] = self._matches.counts[chosen]
        return Proposals(
            **self._shelf.columns(rows),
            counts=counts,
            cosines={name: self._compared(name, rows) for name in self._vectors},
        )

    def _compared(self, name: str, rows: Rows) -> Floats:
        """The cosines of some rows: most were found while the nearest were looked for."""
        lane, cosines = self._shelf.lane(name, len(self._vectors[name])), self._cosines[name][rows]
        missing = np.flatnonzero(np.isnan(cosines))
        if lane is not None and len(missing):
            cosines[missing] = lane.cosines(self._vectors[name], rows[missing])
        return cosines

    def _best(self, rows: Rows, scores: Scores) -> Ranking:
        """As many as there is room for."""
        if len(rows) > self._search.limit:
            rows = rows[np.argpartition(-scores[rows], self._search.limit)[: self._search.limit]]
        return rows, scores[rows]
