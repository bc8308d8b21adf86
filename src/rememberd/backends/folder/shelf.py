"""A shelf: the documents of one user (or of nobody, or of a whole tenant) in memory, ready to be searched.

Postings are arrays sorted by term, in a few segments; a small scope is exact and costs microseconds. Vectors of a lane
are the rows of one matrix; a long text has several.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rememberd.language.weigh import rarity, saturation
from rememberd.model.change import Noun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rememberd.model import Filters
    from rememberd.ports.index import Document

_MOST_SEGMENTS = 6

Rows = NDArray[np.uint32]


def number_of(term: str) -> int:
    """Terms are held as 32-bit numbers; that two of one text meet is rarer than a misprint."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Held:
    """A document as a shelf and the file behind it hold it. ``terms`` and ``counts`` are arrays of 32 and 16 bits."""

    noun: Noun
    id: str
    user: str | None
    agent: str | None
    thread: str | None
    seq: int | None
    kind: str
    role: str | None
    name: str | None
    topic: str | None
    domain: str | None
    source: str | None
    seconds: float
    length: int
    terms: bytes
    counts: bytes
    metadata: dict[str, Any] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    @classmethod
    def of(cls, document: Document) -> Held:
        counted: dict[int, int] = {}
        for term in document.terms:
            number = number_of(term)
            counted[number] = counted.get(number, 0) + 1
        terms = np.fromiter(sorted(counted), np.uint32, len(counted))
        counts = np.fromiter((min(counted[term], 65535) for term in terms.tolist()), np.uint16, len(counted))
        return cls(
            document.noun, document.id, document.user, document.agent, document.thread, document.seq, document.kind,
            document.role, document.name, document.topic, document.domain, document.source, document.at.timestamp(),
            len(document.terms), terms.tobytes(), counts.tobytes(), document.metadata, dict(document.vectors),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings sorted by term, then row."""

    terms: NDArray[np.uint32]
    rows: Rows
    counts: NDArray[np.uint16]

    @classmethod
    def of(cls, documents: Iterable[tuple[int, Held]]) -> Segment:
        terms, rows, counts = [], [], []
        for row, held in documents:
            terms.append(np.frombuffer(held.terms, np.uint32))
            counts.append(np.frombuffer(held.counts, np.uint16))
            rows.append(np.full(len(terms[-1]), row, np.uint32))
        return cls._sorted(np.concatenate(terms), np.concatenate(rows), np.concatenate(counts))

    @classmethod
    def merged(cls, segments: Sequence[Segment]) -> Segment:
        return cls._sorted(
            np.concatenate([segment.terms for segment in segments]),
            np.concatenate([segment.rows for segment in segments]),
            np.concatenate([segment.counts for segment in segments]),
        )

    @classmethod
    def _sorted(cls, terms: NDArray[np.uint32], rows: Rows, counts: NDArray[np.uint16]) -> Segment:
        order = np.argsort(terms, kind="stable")  # rows come in order, and stay so within a term
        return cls(terms[order], rows[order], counts[order])

    def of_term(self, term: int) -> tuple[Rows, NDArray[np.uint16]]:
        wanted = np.uint32(term)  # of the array's own type, or the array is copied to another
        low, high = self.terms.searchsorted(wanted), self.terms.searchsorted(wanted, "right")
        return self.rows[low:high], self.counts[low:high]


@dataclass(slots=True)
class Shelf:
    """Rows are given in the order documents come; one that goes leaves its row empty until the shelf is made anew."""

    documents: list[Held | None] = field(default_factory=list)
    row_of: dict[int, int] = field(default_factory=dict)
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    gone: int = 0
    _segments: list[Segment] = field(default_factory=list)
    _packed: int = 0
    _lengths: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    _lanes: dict[str, tuple[Rows, NDArray[np.int64], NDArray[np.float32]]] = field(default_factory=dict)
    _agents: bool = False

    def add(self, number: int, held: Held) -> None:
        self.row_of[number] = len(self.documents)
        if held.thread is not None and held.seq is not None:
            self.places[held.thread, held.seq] = len(self.documents)
        self.documents.append(held)

    def remove(self, number: int) -> None:
        row = self.row_of.pop(number, None)
        if row is not None:
            held = self.documents[row]
            place = (held.thread, held.seq) if held is not None else None
            if self.places.get(place) == row:  # type: ignore[arg-type]
                del self.places[place]  # type: ignore[arg-type]
            self.documents[row] = None
            self.gone += 1
            self._lengths = np.zeros(0, np.float32)

    def __len__(self) -> int:
        return len(self.documents) - self.gone

    def pack(self) -> None:
        """Make what came since the last search part of the arrays."""
        if self._packed < len(self.documents):
            fresh = [(row, held) for row in range(self._packed, len(self.documents)) if (held := self.documents[row])]
            if fresh:
                self._segments.append(Segment.of(fresh))
                if len(self._segments) > _MOST_SEGMENTS:
                    self._segments = [Segment.merged(self._segments)]
                self._extend_lanes(fresh)
                self._agents = self._agents or any(held.agent is not None for _, held in fresh)
            self._packed = len(self.documents)
        if len(self._lengths) != len(self.documents):
            self._lengths = np.fromiter((held.length if held else 0 for held in self.documents), np.float32)

    def in_sight(self, agent: str | None, *, everyone: bool) -> NDArray[np.bool_]:
        """Which rows may be seen."""
        if self._agents and not everyone:
            seen = (held is not None and (held.agent is None or held.agent == agent) for held in self.documents)
            return np.fromiter(seen, np.bool_, len(self.documents))
        if self.gone:
            return np.fromiter((held is not None for held in self.documents), np.bool_, len(self.documents))
        return np.ones(len(self.documents), np.bool_)

    def admitted(self, sight: NDArray[np.bool_], filters: Filters) -> NDArray[np.bool_]:
        """Which of the rows in sight the filters admit."""
        kept = sight.copy()
        for row in np.flatnonzero(sight):
            held = self.documents[row]
            kept[row] = held is not None and filters.admits(held)
        return kept

    def postings(self, term: str) -> tuple[Rows, NDArray[np.uint16]]:
        """The rows that hold a term, and how often; those of empty rows among them."""
        number = number_of(term)
        found = [segment.of_term(number) for segment in self._segments]
        if len(found) == 1:
            return found[0]
        if not found:
            return np.zeros(0, np.uint32), np.zeros(0, np.uint16)
        return np.concatenate([rows for rows, _ in found]), np.concatenate([counts for _, counts in found])

    def cosines(self, lane: str, vector: bytes) -> tuple[Rows, NDArray[np.float32]]:
        """The rows that have vectors in a lane, and how near the nearest of each is."""
        if lane not in self._lanes:
            return np.zeros(0, np.uint32), np.zeros(0, np.float32)
        rows, lengths, flat = self._lanes[lane]
        asked = np.frombuffer(vector, "<f4")
        near = flat.reshape(-1, len(asked)) @ asked
        if len(near) > len(rows):
            ends = np.cumsum(lengths // len(asked))
            near = np.maximum.reduceat(near, np.concatenate([[0], ends[:-1]]))
        return rows, near

    def neighbours(self, row: int, reach: int) -> list[int]:
        """The rows up to ``reach`` places before or after a message in its thread."""
        held = self.documents[row]
        if held is None or held.thread is None or held.seq is None:
            return []
        steps = (held.seq + step for step in range(-reach, reach + 1) if step)
        return [near for seq in steps if (near := self.places.get((held.thread, seq))) is not None]

    @property
    def lengths(self) -> NDArray[np.float32]:
        return self._lengths

    def _extend_lanes(self, fresh: list[tuple[int, Held]]) -> None:
        for lane in {lane for _, held in fresh for lane in held.vectors}:
            having = [(row, held.vectors[lane]) for row, held in fresh if lane in held.vectors]
            rows = np.fromiter((row for row, _ in having), np.uint32, len(having))
            lengths = np.fromiter((len(data) // 4 for _, data in having), np.int64, len(having))
            flat = np.frombuffer(b"".join(data for _, data in having), "<f4")
            if lane in self._lanes:
                old_rows, old_lengths, old_flat = self._lanes[lane]
                rows, lengths = np.concatenate([old_rows, rows]), np.concatenate([old_lengths, lengths])
                flat = np.concatenate([old_flat, flat])
            self._lanes[lane] = (rows, lengths, flat)


def words(
    shelf: Shelf, postings: Mapping[str, tuple[Rows, NDArray[np.uint16]]], frequencies: Mapping[str, int],
    documents: int, average: float,
) -> NDArray[np.float32]:  # fmt: skip
    """How well each row matches by words."""
    scores = np.zeros(len(shelf.documents), np.float32)
    for term, (rows, counts) in postings.items():
        weight = rarity(documents, frequencies[term])
        scores[rows] += weight * saturation(counts.astype(np.float32), shelf.lengths[rows], average)
    return scores
