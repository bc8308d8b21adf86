"""Which rows of a shelf hold a term, and how often: arrays sorted by term, in a few segments."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_SEGMENTS = 6
_PLACE = np.uint64(32)  # bits
_PLACES = np.uint64((1 << 32) - 1)

Rows = NDArray[np.uint32]


@lru_cache(1 << 16)
def number_of(term: str) -> int:
    """Terms are held as 32-bit numbers; that two of one text meet is rarer than a misprint."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Matches:
    """Where terms stand: the term's place in the question, the row, and how often. Rows come in order within a term."""

    terms: NDArray[np.intp]
    rows: Rows
    counts: NDArray[np.float32]

    def where(self, kept: NDArray[np.bool_]) -> Matches:
        """Only those in rows for which it is true."""
        chosen = kept[self.rows]
        return self if chosen.all() else Matches(self.terms[chosen], self.rows[chosen], self.counts[chosen])


@dataclass(frozen=True, slots=True)
class _Segment:
    """Postings sorted by term, then row."""

    terms: NDArray[np.uint32]
    rows: Rows
    counts: NDArray[np.uint16]

    @classmethod
    def of(cls, terms: NDArray[np.uint32], rows: Rows, counts: NDArray[np.uint16]) -> _Segment:
        """Rows come in order, and stay so within a term. To sort numbers that hold term and place is four times as fast
        as to ask for the order of the terms."""
        keys = np.sort(terms.astype(np.uint64) << _PLACE | np.arange(len(terms), dtype=np.uint64))
        order = (keys & _PLACES).astype(np.intp)
        return cls((keys >> _PLACE).astype(np.uint32), rows[order], counts[order])


class Postings:
    """Fresh documents become a segment of their own; when there are many segments, they become one."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []

    def add(self, first_row: int, terms: Sequence[bytes], counts: Sequence[bytes]) -> None:
        """The terms of rows from the first on, and how often each stands there."""
        rows = np.arange(first_row, first_row + len(terms), dtype=np.uint32)
        self._segments.append(
            _Segment.of(
                np.frombuffer(b"".join(terms), np.uint32),
                np.repeat(rows, [len(each) // np.dtype(np.uint32).itemsize for each in terms]),
                np.frombuffer(b"".join(counts), np.uint16),
            )
        )
        if len(self._segments) > _MOST_SEGMENTS:
            self._segments = [
                _Segment.of(
                    np.concatenate([segment.terms for segment in self._segments]),
                    np.concatenate([segment.rows for segment in self._segments]),
                    np.concatenate([segment.counts for segment in self._segments]),
                )
            ]

    def of(self, terms: Sequence[str]) -> Matches:
        """Where any of the terms stands; those of rows that went are among them."""
        wanted = np.fromiter(map(number_of, terms), np.uint32, len(terms))
        places, rows, counts = [], [], []
        for segment in self._segments:
            first, last = segment.terms.searchsorted(wanted), segment.terms.searchsorted(wanted, "right")
            for place, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
                if low < high:
                    places.append(np.full(high - low, place, np.intp))
                    rows.append(segment.rows[low:high])
                    counts.append(segment.counts[low:high])
        if not rows:
            return Matches(np.zeros(0, np.intp), np.zeros(0, np.uint32), np.zeros(0, np.float32))
        return Matches(np.concatenate(places), np.concatenate(rows), np.concatenate(counts).astype(np.float32))
