"""The vectors of one lane on a shelf: 8 bits a dimension with one scale each, and their signs for a quick first look.

A few dimensions of a model's vectors dwarf the others, and would take most of the 8 bits for themselves; so vectors are
held in another basis, in which each dimension is spread over many.

A document may have several vectors, one for each part of a long text; the nearest counts.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import Growing

if TYPE_CHECKING:
    from collections.abc import Iterator

    Rows = NDArray[np.intp]

Floats = NDArray[np.float32]
Codes = NDArray[np.int8]

#: The vectors of up to so many rows are all compared.
EXACT = 4096
#: Of more, only so many vectors are: those whose signs agree best with the question's.
RESCORED = 1000

#: Over how many each dimension is spread, if their number is a multiple of that; else over fewer.
_SPREAD = 32

_NONE = -1


class Packed(NamedTuple):
    """Vectors in 8 bits: of each its scale and its codes."""

    scales: Floats
    codes: Codes


def packed(vectors: Floats) -> Packed:
    """Vectors, a row each, as a lane holds them. Many together cost far less than one by one."""
    vectors = spread(vectors)
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-12) / np.float32(127)
    return Packed(scales, np.rint(vectors / scales[:, None]).astype(np.int8))


class Lane:
    """A row of the shelf has its vectors side by side, from a first place on; rows are asked for in their order, and
    questions are told as ``spread`` makes them."""

    def __init__(self, dimension: int) -> None:
        self._first = Growing(np.intp)
        self._parts = Growing(np.intp)
        self._scales = Growing(np.float32)
        self._codes = Growing(np.int8, dimension)
        self._signs = [Growing(np.uint64) for _ in range(-(-dimension // 64))]
        self._sum = np.zeros(dimension, np.float32)
        self._parted = False
        self.dropped = 0

    def __len__(self) -> int:
        """How many vectors there are, dropped ones among them."""
        return len(self._scales)

    def add(self, rows: Rows, vectors: Packed) -> None:
        """The vectors of rows that have none; a row stands there as often as it has vectors, which come in a row."""
        places = np.arange(len(self), len(self) + len(rows))
        begins = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        parts = np.diff(begins, append=len(rows))
        size = int(rows.max()) + 1
        self._first.fill(_NONE, size)
        self._parts.fill(0, size)
        self._first.all[rows[begins]] = places[begins]
        self._parts.all[rows[begins]] = parts
        self._parted = self._parted or bool(parts.max() > 1)
        self._scales.extend(vectors.scales)
        self._codes.extend(vectors.codes)
        for words, column in zip(self._signs, _signs(vectors.codes).T, strict=True):
            words.extend(column)
        self._sum += np.einsum("i,ij->j", vectors.scales, vectors.codes)

    def drop(self, rows: Rows) -> None:
        """Let go of the vectors of some rows."""
        having, places = self._places(rows)
        self._sum -= np.einsum("i,ij->j", self._scales.all[places], self._codes.all[places])
        self._first.all[rows[having]] = _NONE
        self.dropped += len(places)

    def nearest(self, vector: Floats, rows: Rows) -> tuple[Rows, Floats]:
        """Which of some rows may be among the nearest, by their places there, and their cosines."""
        having, places = self._places(rows)
        if len(rows) > EXACT and len(places) > RESCORED:
            nearest = np.argpartition(self._differing(vector)[places], RESCORED)[:RESCORED]
            if self._parted:
                having, places = self._places(rows, np.unique(having[nearest]))
            else:
                having, places = having[nearest], places[nearest]
        cosines = self._exact(vector, places)
        if not self._parted or not len(having):
            return having, cosines
        begins = np.flatnonzero(np.diff(having, prepend=-1))
        return having[begins], np.maximum.reduceat(cosines, begins)

    def mean(self, vector: Floats, rows: Rows) -> float | None:
        """The mean cosine of the vectors of some rows."""
        _, places = self._places(rows)
        if not len(places):
            return None
        every = len(places) == len(self) - self.dropped
        return float(self._sum @ vector if every else self._exact(vector, places).sum()) / len(places)

    def of(self, rows: Rows) -> Iterator[tuple[int, bytes, bytes]]:
        """The vectors of some rows: of each the place of its row there, its scale and its codes."""
        having, places = self._places(rows)
        for at, place in zip(having.tolist(), places.tolist(), strict=True):
            yield at, self._scales.all[place].tobytes(), self._codes.all[place].tobytes()

    def _places(self, rows: Rows, among: Rows | None = None) -> tuple[Rows, Rows]:
        """Where the vectors of rows are: for each the place of its row there, and its own."""
        if len(rows) and rows[-1] >= len(self._first):
            rows = rows[: rows.searchsorted(len(self._first))]
        first = self._first.all[rows]
        having = (first != _NONE).nonzero()[0] if among is None else among
        places = first[having]
        if not self._parted:
            return having, places
        parts = self._parts.all[rows[having]]
        steps = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        return np.repeat(having, parts), np.repeat(places, parts) + steps

    def _exact(self, vector: Floats, places: Rows) -> Floats:
        """One product a row: a product of the whole matrix would wake threads that cost more than they save."""
        cosines: Floats = self._scales.all[places] * np.vecdot(self._codes.all[places].astype(np.float32), vector)
        return cosines

    def _differing(self, vector: Floats) -> NDArray[np.uint16]:
        """In how many dimensions the sign of each differs."""
        differing = np.zeros(len(self), np.uint16)
        for words, asked in zip(self._signs, _signs(vector[None, :])[0], strict=True):
            differing += np.bitwise_count(words.all ^ asked)
        return differing


def spread(vectors: Floats) -> Floats:
    """The vectors in the basis that they are held in; cosines are the same in both."""
    over = math.gcd(vectors.shape[-1], _SPREAD)
    turned: Floats = (_basis(over) @ vectors.reshape(*vectors.shape[:-1], over, -1)).reshape(vectors.shape)
    return turned


@functools.cache
def _basis(size: int) -> Floats:
    """Hadamard's: each of its unit vectors is as large in every dimension. The size is a power of two."""
    rows = np.ones((1, 1), np.float32)
    while len(rows) < size:
        rows = np.block([[rows, rows], [rows, -rows]])
    return rows / np.float32(math.sqrt(size))


def _signs(vectors: Codes | Floats) -> NDArray[np.uint64]:
    """The signs of each vector as 64-bit words."""
    bits = np.packbits(vectors > 0, axis=1)
    spare = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, spare)))).view(np.uint64)
