"""A shelf: the documents of one user (or of nobody, or of a whole tenant) in memory, in columns, to be searched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import astuple

from rememberd.model.query import FILTERED_FIELDS, metadata_text
from rememberd.ports.candidates import place_of

from .document import Held
from .grow import Growing
from .lane import Lane, dimension_of
from .postings import Postings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rememberd.model import Filters

    Mask = NDArray[np.bool_]
    Rows = NDArray[np.intp]

_STRINGS = ("kind", "role", "agent", "thread", "topic", "domain", "source", "name")


class Shelf:
    """Rows are given in the order documents come; one that goes leaves its row behind until the shelf is made anew."""

    def __init__(self) -> None:
        self.gone = 0
        self.postings = Postings()
        self._fresh: list[tuple[int, Held]] = []
        self._numbers = Growing(np.int64)
        self._alive = Growing(np.bool_)
        self._nouns, self._ids, self._metadata = Growing(object), Growing(object), Growing(object)
        self._strings = {name: Growing(object) for name in _STRINGS}
        self._seconds, self._lengths, self._places = Growing(np.float64), Growing(np.float32), Growing(np.int64)
        self._lanes: dict[tuple[str, int], Lane] = {}
        self._by_place: tuple[Rows, NDArray[np.int64]] | None = None
        self._agents = False

    def __len__(self) -> int:
        return len(self._ids) + len(self._fresh) - self.gone

    def add(self, number: int, held: Held) -> None:
        """Numbers come in their order."""
        self._fresh.append((number, held))

    def remove(self, number: int) -> None:
        self.pack()
        row = int(self._numbers.all.searchsorted(number, "right")) - 1  # the latest, if one has gone before
        if row >= 0 and self._numbers.all[row] == number:
            self._alive.all[row] = False
            self.gone += 1

    def pack(self) -> None:
        """Make what came since the last search part of the columns."""
        if not self._fresh:
            return
        first, (numbers, documents) = len(self._ids), zip(*self._fresh, strict=True)
        self._fresh = []
        columns = dict(zip(Held.__struct_fields__, zip(*map(astuple, documents), strict=True), strict=True))
        self._numbers.extend(numbers)
        self._alive.extend(np.ones(len(documents), bool))
        self._nouns.extend([*map(sys.intern, columns["noun"])])
        self._ids.extend(columns["id"])
        self._metadata.extend([metadata or None for metadata in columns["metadata"]])
        for name, column in self._strings.items():
            column.extend([value and sys.intern(value) for value in columns[name]])
        self._seconds.extend(columns["seconds"])
        self._lengths.extend(columns["length"])
        self._places.extend([*map(place_of, columns["thread"], columns["seq"])])
        self._by_place = None
        self._agents = self._agents or any(columns["agent"])
        self.postings.add(first, columns["terms"], columns["counts"])
        self._add_vectors(first, columns["vectors"])

    def in_sight(self, agent: str | None, *, everyone: bool) -> Mask:
        """Which rows may be seen."""
        seen: Mask = self._alive.all.copy()
        if self._agents and not everyone:
            seen &= np.fromiter((of is None or of == agent for of in self._strings["agent"].all), bool, len(seen))
        return seen

    def admitted(self, sight: Mask, filters: Filters) -> Mask:
        """Which of the rows in sight the filters admit."""
        kept = sight.copy()
        if filters.after is not None:
            kept &= self._seconds.all >= filters.after.timestamp()
        if filters.before is not None:
            kept &= self._seconds.all < filters.before.timestamp()
        for name in FILTERED_FIELDS:
            if wanted := getattr(filters, name):
                kept &= np.fromiter((value in wanted for value in self._strings[name].all), bool, len(kept))
        for key, wanted in filters.metadata.items():
            for row in np.flatnonzero(kept) if wanted else ():
                kept[row] = metadata_text((self._metadata.all[row] or {}).get(key)) in wanted
        return kept

    def lane(self, name: str, dimension: int) -> Lane | None:
        return self._lanes.get((name, dimension))

    def neighbours(self, rows: Rows, reach: int) -> Rows:
        """The rows up to ``reach`` places before or after some messages in their threads."""
        if self._by_place is None:
            order = np.argsort(self._places.all, kind="stable")
            self._by_place = order, self._places.all[order]
        order, places = self._by_place
        steps = np.array([step for step in range(-reach, reach + 1) if step])
        here = self._places.all[rows]
        wanted = (here[here >= 0, None] + steps).ravel()
        found = places.searchsorted(wanted)
        found[found == len(places)] = 0
        return np.unique(order[found[places[found] == wanted]])

    @property
    def lengths(self) -> NDArray[np.float32]:
        return self._lengths.all

    @property
    def seconds(self) -> NDArray[np.float64]:
        return self._seconds.all

    def columns(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """What is told of rows that are proposed, besides what the search finds out."""
        return {
            "nouns": self._nouns.all[rows],
            "ids": self._ids.all[rows],
            "lengths": self._lengths.all[rows],
            "kinds": self._strings["kind"].all[rows],
            "names": self._strings["name"].all[rows],
            "places": self._places.all[rows],
            "seconds": self._seconds.all[rows],
        }

    def _add_vectors(self, first: int, vectors: Sequence[Mapping[str, bytes]]) -> None:
        having: dict[tuple[str, int], tuple[list[int], list[bytes]]] = {}
        for row, lanes in enumerate(vectors, first):
            for name, data in lanes.items():
                rows, packed = having.setdefault((name, dimension_of(data)), ([], []))
                rows.append(row)
                packed.append(data)
        for (name, dimension), (rows, packed) in having.items():
            self._lanes.setdefault((name, dimension), Lane(dimension)).add(rows, packed)
