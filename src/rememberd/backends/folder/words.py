"""Which terms stand in the rows of a shelf, and how often: row by row, and for wide searches term by term.

To look through the terms of a few hundred rows costs less than to find them in the lists of a whole tenant.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .columns import Growing, where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Rows = NDArray[np.intp]
    Numbers = NDArray[np.uint32]
    Counts = NDArray[np.uint8]

#: The terms of up to so many rows are looked through, or of up to one row in so many.
NARROW = 2048
ONE_IN = 8

_MOST = np.iinfo(np.uint8).max
_SMALLER = 4
_PLACE = np.uint64(32)  # bits
_LOW = np.uint64((1 << 32) - 1)


@lru_cache(1 << 16)
def number_of(term: str) -> int:
    """Terms are held as 32-bit numbers; that two of one text meet is rarer than a misprint."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def counted(texts: Sequence[Sequence[str]]) -> tuple[Numbers, Numbers, Counts]:
    """How many different terms each text has; and of all texts in a row, these terms, and how often each stands."""
    lengths = [len(terms) for terms in texts]
    every = [*chain.from_iterable(texts)]
    known = {term: number_of(term) for term in set(every)}
    numbers = np.fromiter(map(known.__getitem__, every), np.uint64, len(every))
    keys = np.repeat(np.arange(len(texts), dtype=np.uint64), lengths) << _PLACE | numbers
    different, counts = np.unique(keys, return_counts=True)
    sizes = np.bincount((different >> _PLACE).astype(np.intp), minlength=len(texts))
    return sizes.astype(np.uint32), (different & _LOW).astype(np.uint32), np.minimum(counts, _MOST).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Matches:
    """Where terms stand: the term's place in the question, the place among the rows looked at, and how often."""

    terms: Rows
    places: Rows
    counts: NDArray[np.float32]


class Words:
    """Rows are numbered in the order they come."""

    def __init__(self) -> None:
        self._starts, self._sizes = Growing(np.intp), Growing(np.intp)
        self._terms, self._counts = Growing(np.uint32), Growing(np.uint8)
        self._postings = _Postings()

    def add(self, sizes: Numbers, terms: Numbers, counts: Counts) -> None:
        """Rows, as ``counted`` tells them."""
        self._starts.extend(len(self._terms) + np.cumsum(sizes) - sizes)
        self._sizes.extend(sizes)
        self._terms.extend(terms)
        self._counts.extend(counts)

    def of(self, rows: Rows) -> Iterator[tuple[bytes, bytes]]:
        """The terms of some rows, and how often each stands there."""
        starts = self._starts.all[rows]
        for first, last in zip(starts.tolist(), (starts + self._sizes.all[rows]).tolist(), strict=True):
            yield self._terms.all[first:last].tobytes(), self._counts.all[first:last].tobytes()

    def matches(self, wanted: Numbers, rows: Rows) -> Matches:
        """Where the wanted terms, each different and in order, stand in some rows."""
        if not len(wanted) or not len(rows):
            return Matches(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.float32))
        narrow = len(rows) <= max(NARROW, len(self._sizes) // ONE_IN)
        return self._looked_through(wanted, rows) if narrow else self._looked_up(wanted, rows)

    def _looked_through(self, wanted: Numbers, rows: Rows) -> Matches:
        sizes = self._sizes.all[rows]
        ends = np.cumsum(sizes)
        there = np.arange(ends[-1]) + np.repeat(self._starts.all[rows] - ends + sizes, sizes)
        found, which = where(self._terms.all[there], wanted)
        return Matches(which, ends.searchsorted(found, "right"), self._counts.all[there[found]].astype(np.float32))

    def _looked_up(self, wanted: Numbers, rows: Rows) -> Matches:
        self._postings.follow(self._sizes.all, self._terms.all, self._counts.all)
        terms, found, counts = self._postings.of(wanted)
        if len(rows) == len(self._sizes):
            return Matches(terms, found, counts)
        place = np.full(len(self._sizes), -1)
        place[rows] = np.arange(len(rows))
        places = place[found]
        seen = places >= 0
        return Matches(terms[seen], places[seen], counts[seen])


@dataclass(frozen=True, slots=True)
class _Segment:
    """Postings sorted by term, then row."""

    terms: Numbers
    rows: Numbers
    counts: Counts

    @classmethod
    def of(cls, terms: Numbers, rows: Numbers, counts: Counts) -> _Segment:
        """Rows come in order, and stay so within a term. To sort numbers that hold term and place is four times as fast
        as to ask for the order of the terms."""
        keys = np.sort(terms.astype(np.uint64) << _PLACE | np.arange(len(terms), dtype=np.uint64))
        order = (keys & _LOW).astype(np.intp)
        return cls((keys >> _PLACE).astype(np.uint32), rows[order], counts[order])

    def with_later(self, later: _Segment) -> _Segment:
        """One of both; the rows of the other come behind all of these."""
        return _Segment.of(
            np.concatenate([self.terms, later.terms]),
            np.concatenate([self.rows, later.rows]),
            np.concatenate([self.counts, later.counts]),
        )


class _Postings:
    """Rows that came since the last look become a segment, together with the segments that are not much larger."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._rows = self._terms = 0

    def follow(self, sizes: Rows, terms: Numbers, counts: Counts) -> None:
        """Take in the rows that were not there before."""
        if self._rows == len(sizes):
            return
        rows = np.repeat(np.arange(self._rows, len(sizes), dtype=np.uint32), sizes[self._rows :])
        fresh = _Segment.of(terms[self._terms :], rows, counts[self._terms :])
        while self._segments and len(self._segments[-1].terms) < _SMALLER * len(fresh.terms):
            fresh = self._segments.pop().with_later(fresh)
        self._segments.append(fresh)
        self._rows, self._terms = len(sizes), len(terms)

    def of(self, wanted: Numbers) -> tuple[Rows, Rows, NDArray[np.float32]]:
        places, rows, counts = [], [], []
        for segment in self._segments:
            first, last = segment.terms.searchsorted(wanted), segment.terms.searchsorted(wanted, "right")
            for place, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
                places.append(np.full(high - low, place, np.intp))
                rows.append(segment.rows[low:high])
                counts.append(segment.counts[low:high])
        return (
            np.concatenate(places),
            np.concatenate(rows).astype(np.intp),
            np.concatenate(counts).astype(np.float32),
        )
