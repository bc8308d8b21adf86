"""A shelf: the documents of one tenant in memory, in columns, to be searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from rememberd.model.query import FILTERED_FIELDS, metadata_text

from .block import STRINGS
from .columns import Coded, Growing, coded
from .lane import Lane, Packed
from .merge import merged
from .words import Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rememberd.model import Filters, Scope

    from .block import Block, Thing

    Mask = NDArray[np.bool_]
    Rows = NDArray[np.intp]

_NOWHERE = -1
_ENOUGH = 1024

_metadata = msgspec.json.decode
_canonical = msgspec.msgpack.Encoder(order="deterministic").encode


class Shelf:
    """Rows are given in the order documents come; one that goes leaves its row behind until the shelf is made anew."""

    def __init__(self) -> None:
        self.words = Words()
        self._fresh: list[Block] = []
        self._waiting = 0
        self._rows: dict[Thing, int] = {}
        self._alive = Growing(np.bool_)
        self._nouns, self._ids, self._metadata = Coded(), Growing(object), Growing(object)
        self._strings = {name: Coded() for name in STRINGS}
        self._seconds, self._lengths, self._places = Growing(np.float64), Growing(np.float32), Growing(np.int64)
        self._lanes: dict[tuple[str, int], Lane] = {}

    def __len__(self) -> int:
        return len(self._rows) + self._waiting

    @property
    def waste(self) -> int:
        """How much of it is void: rows without a document, and vectors of none."""
        return len(self._alive) - len(self._rows) + sum(lane.dropped for lane in self._lanes.values())

    def add(self, block: Block) -> None:
        """Hold what a block says. Small ones wait for company, or for a search: they cost nearly as much as large
        ones."""
        self._fresh.append(block)
        self._waiting += len(block)
        if self._waiting >= _ENOUGH:
            self.pack()

    def pack(self) -> None:
        """Make what came part of the columns."""
        if self._fresh:
            self._take(merged(self._fresh) if len(self._fresh) > 1 else self._fresh[0])
            self._fresh, self._waiting = [], 0

    def in_sight(self, scope: Scope, *, everyone: bool) -> Rows:
        """The rows that may be seen, in their order."""
        seen: Mask = self._alive.all
        if not everyone:
            seen = seen & self._strings["user"].among({None, scope.user})
            if self._strings["agent"].values != [None]:
                seen &= self._strings["agent"].among({None, scope.agent})
        return seen.nonzero()[0]

    def admitted(self, rows: Rows, filters: Filters) -> Mask:
        """Which of some rows the filters admit."""
        kept: Mask = np.ones(len(rows), bool)
        if filters.after is not None:
            kept &= self._seconds.all[rows] >= filters.after.timestamp()
        if filters.before is not None:
            kept &= self._seconds.all[rows] < filters.before.timestamp()
        for name in FILTERED_FIELDS:
            if wanted := getattr(filters, name):
                kept &= self._strings[name].among(wanted, rows)
        for key, wanted in filters.metadata.items():
            for place in np.flatnonzero(kept) if wanted else ():
                kept[place] = metadata_text(self._told(rows[place]).get(key)) in wanted
        return kept

    def lane(self, space: str, dimension: int) -> Lane | None:
        return self._lanes.get((space, dimension))

    @property
    def lengths(self) -> NDArray[np.float32]:
        return self._lengths.all

    @property
    def seconds(self) -> NDArray[np.float64]:
        return self._seconds.all

    @property
    def places(self) -> NDArray[np.int64]:
        return self._places.all

    def columns(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """What is told of rows that are proposed, besides what the search finds out."""
        return {
            "nouns": self._nouns.of(rows),
            "ids": self._ids.all[rows],
            "lengths": self._lengths.all[rows],
            "kinds": self._strings["kind"].of(rows),
            "names": self._strings["name"].of(rows),
            "places": self._places.all[rows],
            "seconds": self._seconds.all[rows],
        }

    def canonical(self) -> Iterator[bytes]:
        """Each document in a way that depends on nothing but what it says, in the order of their addresses."""
        things = sorted(self._rows)
        rows = np.array([self._rows[thing] for thing in things], np.intp)
        told = [column.of(rows) for column in self._strings.values()]
        numbers = [column.all[rows].tolist() for column in (self._seconds, self._lengths, self._places)]
        vectors: list[list[tuple[str, int, bytes, bytes]]] = [[] for _ in things]
        order = np.argsort(rows)
        for (space, dimension), lane in sorted(self._lanes.items()):
            for place, scale, codes in lane.of(rows[order]):
                vectors[order[place]].append((space, dimension, scale, codes))
        for parts in zip(things, self._metadata.all[rows], self.words.of(rows), vectors, *told, *numbers, strict=True):
            yield _canonical(parts)

    def _take(self, block: Block) -> None:
        first, last = len(self._alive), len(self._alive) + len(block.documents)
        self._let_go([*block.documents, *block.gone])
        self._rows.update(zip(block.documents, range(first, last), strict=True))
        self._alive.fill(True, last)
        self._nouns.extend(*coded([noun for noun, _ in block.documents]))
        self._ids.extend([id_ for _, id_ in block.documents])
        self._metadata.extend(block.metadata)
        for name, strings in block.strings.items():
            self._strings[name].extend(*strings)
        self._seconds.extend(block.numbers["seconds"])
        self._lengths.extend(block.numbers["lengths"])
        self._places.extend(block.numbers["places"])
        self.words.add(block.numbers["sizes"], block.numbers["terms"], block.numbers["counts"])
        self._take_vectors(first, block)

    def _told(self, row: int) -> dict[str, Any]:
        return _metadata(self._metadata.all[row] or b"{}")  # type: ignore[no-any-return]

    def _let_go(self, things: Sequence[Thing]) -> None:
        rows = [row for thing in things if (row := self._rows.pop(thing, _NOWHERE)) != _NOWHERE]
        self._alive.all[rows] = False
        self._drop_vectors(rows)

    def _take_vectors(self, first: int, block: Block) -> None:
        embedded = [self._rows.get(thing, _NOWHERE) for thing in block.embedded]
        self._drop_vectors([row for row in embedded if row != _NOWHERE])
        row_of = np.array([*range(first, len(self._alive)), *embedded], np.intp)
        for space, things, vectors in block.legs:
            held = row_of[things] != _NOWHERE
            if held.any():
                dimension = vectors.codes.shape[1]
                lane = self._lanes.setdefault((space, dimension), Lane(dimension))
                lane.add(row_of[things[held]], Packed(vectors.scales[held], vectors.codes[held]))

    def _drop_vectors(self, rows: list[int]) -> None:
        for lane in self._lanes.values() if rows else ():
            lane.drop(np.sort(rows))
