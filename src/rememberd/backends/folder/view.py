"""A shelf as one search sees it: the rows in sight, by their places among them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from rememberd.language.weigh import rarity, saturation
from rememberd.model import NO_FILTERS
from rememberd.ports.candidates import Proposals

from .columns import where
from .lane import EXACT, spread
from .words import number_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rememberd.ports.index import Search

    from .shelf import Shelf

    Places = NDArray[np.intp]
    Floats = NDArray[np.float32]


class View:
    """A ranking is places, best first."""

    def __init__(self, shelf: Shelf, search: Search) -> None:
        self._shelf = shelf
        self._search = search
        self._rows = shelf.in_sight(search.scope, everyone=search.everyone)
        self._filtered = search.filters != NO_FILTERS
        self._admitted = shelf.admitted(self._rows, search.filters) if self._filtered else np.ones(len(self), bool)
        self._lengths = shelf.lengths[self._rows]
        self.average_length = float(self._lengths.sum()) / max(len(self), 1)
        numbers = [number_of(term) for term in search.terms]
        wanted = sorted(set(numbers))
        self._which = [wanted.index(number) for number in numbers]
        self._matches = shelf.words.matches(np.array(wanted, np.uint32), self._rows)
        self._found_in = np.bincount(self._matches.terms, minlength=len(wanted))
        self._vectors = {space: spread(np.frombuffer(data, "<f4")) for space, data in search.vectors.items()}
        self._cosines = {space: self._compared(space) for space in search.vectors}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def frequencies(self) -> dict[str, int]:
        """In how many rows each term stands."""
        found_in = self._found_in.tolist()
        return {term: found_in[which] for term, which in zip(self._search.terms, self._which, strict=True)}

    @property
    def background(self) -> dict[str, float]:
        """The mean cosine of all in sight, per lane."""
        return {space: mean for space in self._vectors if (mean := self._mean(space)) is not None}

    def by_words(self) -> Places:
        """What matches by words."""
        found = self._matches
        rare = np.array([rarity(len(self), number) for number in self._found_in.tolist()])
        rare *= np.bincount(self._which, minlength=len(rare))
        worth = rare[found.terms] * saturation(found.counts, self._lengths[found.places], self.average_length)
        scores = np.bincount(found.places, worth, minlength=len(self))
        matching = self._admitted & (scores > 0)
        if self._search.match == "all":
            matching &= np.bincount(found.places, minlength=len(self)) == len(rare)
        return self._best(matching.nonzero()[0], scores)

    def by_vectors(self) -> Places:
        """What has a vector to compare, each by the lane in which it is nearest."""
        if not self._cosines:
            return np.zeros(0, np.intp)
        nearest = functools.reduce(np.fmax, self._cosines.values())
        return self._best((self._admitted & ~np.isnan(nearest)).nonzero()[0], nearest)

    def latest(self) -> Places:
        return self._best(self._admitted.nonzero()[0], self._shelf.seconds[self._rows])

    def neighbours(self, places: Places, reach: int) -> Places:
        """What stands up to ``reach`` places before or after some messages in their threads."""
        here = self._shelf.places[self._rows[places]]
        steps = np.array([step for step in range(-reach, reach + 1) if step])
        wanted = np.sort((here[here >= 0, None] + steps).ravel())
        near = where(self._shelf.places[self._rows], wanted)[0]
        kept: Places = near[self._admitted[near]]
        return kept

    def proposals(self, places: Places) -> Proposals:
        """What is told of some."""
        matches = self._matches
        place_of = np.full(len(self), -1)
        place_of[places] = np.arange(len(places))
        at = place_of[matches.places]
        chosen = at >= 0
        counts = np.zeros((len(places), len(self._found_in)), np.float32)
        counts[at[chosen], matches.terms[chosen]] = matches.counts[chosen]
        return Proposals(
            **self._shelf.columns(self._rows[places]),
            counts=counts[:, self._which],
            cosines={space: self._with_missing(space, places) for space in self._cosines},
        )

    def _compared(self, space: str) -> Floats:
        """The cosine of each that may be among the nearest; NaN of others."""
        cosines = np.full(len(self), np.nan, np.float32)
        lane = self._shelf.lane(space, len(self._vectors[space]))
        if lane is not None:
            places = self._admitted.nonzero()[0]
            nearest, found = lane.nearest(self._vectors[space], self._rows[places])
            cosines[places[nearest]] = found
        return cosines

    def _mean(self, space: str) -> float | None:
        if len(self) <= EXACT and not self._filtered:
            cosines = self._cosines[space]
            compared = cosines[~np.isnan(cosines)]
            return float(compared.sum()) / len(compared) if len(compared) else None
        lane = self._shelf.lane(space, len(self._vectors[space]))
        return None if lane is None else lane.mean(self._vectors[space], self._rows)

    def _with_missing(self, space: str, places: Places) -> Floats:
        """The cosines of some: most were found while the nearest were looked for."""
        cosines = self._cosines[space][places]
        lane = self._shelf.lane(space, len(self._vectors[space]))
        missing = np.isnan(cosines).nonzero()[0]
        if lane is not None and len(missing):
            order = np.argsort(places[missing])
            having, found = lane.nearest(self._vectors[space], self._rows[places[missing[order]]])
            cosines[missing[order[having]]] = found
        return cosines

    def _best(self, places: Places, scores: NDArray[Any]) -> Places:
        """As many as there is room for, best first; of equals the first."""
        worst_first = -scores[places]
        if len(places) > self._search.limit:
            best = np.argpartition(worst_first, self._search.limit)[: self._search.limit]
            places, worst_first = places[best], worst_first[best]
        return places[worst_first.argsort(kind="stable")]
