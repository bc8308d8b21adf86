"""The vectors of one lane on a shelf: 8 bits a dimension with one scale each, and their signs for a quick first look.

A few dimensions of a model's vectors dwarf the others, and would take most of the 8 bits for themselves; so vectors are
held in another basis, in which each dimension is spread over many.

A document may have several vectors, one for each part of a long text; the nearest counts.
"""

from __future__ import annotations

import functools
import math
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from rememberd.ports.candidates import vectors_of

from .grow import Growing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Rows = NDArray[np.intp]

#: Up to so many vectors are all compared.
EXACT = 4096
#: Of more, only so many are: those whose signs agree best with the question's.
RESCORED = 1000

#: Over how many each dimension is spread, if their number is a multiple of that; else over fewer.
_SPREAD = 32

_MOST = np.iinfo(np.uint16).max
_HEADER = 4  # bytes
_SCALE = np.dtype("<f4")


def packed(given: Sequence[bytes]) -> list[bytes]:
    """Vectors in 8 bits, for each that is given: their dimension, then of each its scale and its codes."""
    vectors = [vectors_of(data) for data in given]
    made = [b""] * len(given)
    for dimension in {each.shape[1] for each in vectors}:
        alike = [place for place, each in enumerate(vectors) if each.shape[1] == dimension]
        bodies = _bodies(_spread(np.concatenate([vectors[place] for place in alike])))
        header = dimension.to_bytes(_HEADER, "little")
        for place, end in zip(alike, accumulate(len(vectors[place]) for place in alike), strict=True):
            made[place] = header + bodies[end - len(vectors[place]) : end].tobytes()
    return made


def _bodies(vectors: Floats) -> NDArray[np.uint8]:
    scales = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-12).astype(_SCALE) / np.float32(127)
    codes = np.rint(vectors / scales).astype(np.int8)
    return np.concatenate([scales.view(np.uint8), codes.view(np.uint8)], axis=1)


def dimension_of(data: bytes) -> int:
    """The dimension of packed vectors."""
    return int.from_bytes(data[:_HEADER], "little")


class Lane:
    """Rows of the shelf in their order, each with a vector; a row stands here as often as its document has vectors."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows = Growing(np.intp)
        self._scales = Growing(np.float32)
        self._codes = Growing(np.int8, dimension)
        self._signs = [Growing(np.uint64) for _ in range(-(-dimension // 64))]
        self._sum = np.zeros(dimension, np.float32)
        self._parted = False

    def add(self, rows: Sequence[int], vectors: Sequence[bytes]) -> None:
        """Packed vectors of some rows."""
        width = _SCALE.itemsize + self._dimension
        bodies = [memoryview(data)[_HEADER:] for data in vectors]
        body = np.frombuffer(b"".join(bodies), np.uint8).reshape(-1, width)
        scales = np.ascontiguousarray(body[:, : _SCALE.itemsize]).view(_SCALE)[:, 0]
        codes = body[:, _SCALE.itemsize :].view(np.int8)
        parts = [len(each) // width for each in bodies]
        self._parted = self._parted or max(parts) > 1
        self._rows.extend(np.repeat(np.array(rows, np.intp), parts))
        self._scales.extend(scales)
        self._codes.extend(codes)
        for words, column in zip(self._signs, _signs(codes).T, strict=True):
            words.extend(column)
        self._sum += np.einsum("i,ij->j", scales, codes)

    def nearest(self, vector: Floats, admitted: NDArray[np.bool_]) -> tuple[Rows, Floats]:
        """The rows that may be among the nearest of those admitted, and their cosines, in no particular order."""
        vector = _spread(vector)
        chosen = admitted[self._rows.all]
        places = slice(None) if chosen.all() else np.flatnonzero(chosen)
        if np.count_nonzero(chosen) > EXACT:
            differing = np.where(chosen, self._differing(vector), _MOST)
            places = np.argpartition(differing, RESCORED)[:RESCORED]
        if not self._parted:
            return self._rows.all[places], self._exact(vector, places)
        rows = np.unique(self._rows.all[places])
        return rows, self._best_parts(vector, rows)

    def cosines(self, vector: Floats, rows: Rows) -> Floats:
        """The cosine of each of some rows; NaN for those that have no vector."""
        return self._best_parts(_spread(vector), rows)

    def _best_parts(self, vector: Floats, rows: Rows) -> Floats:
        first, last = self._rows.all.searchsorted(rows), self._rows.all.searchsorted(rows, "right")
        found = np.full(len(rows), np.nan, np.float32)
        for part in range(int((last - first).max(initial=0))):
            has = np.flatnonzero(first + part < last)
            found[has] = np.fmax(found[has], self._exact(vector, first[has] + part))
        return found

    def background(self, vector: Floats, sight: NDArray[np.bool_]) -> tuple[int, float]:
        """How many vectors are in sight, and the sum of their cosines."""
        vector = _spread(vector)
        seen = sight[self._rows.all]
        if seen.all():
            return len(seen), float(self._sum @ vector)
        places = np.flatnonzero(seen)
        return len(places), float(self._exact(vector, places).sum())

    def _exact(self, vector: Floats, places: Rows | slice) -> Floats:
        """One product a row: a product of the whole matrix would wake threads that cost more than they save."""
        cosines: Floats = self._scales.all[places] * np.vecdot(self._codes.all[places].astype(np.float32), vector)
        return cosines

    def _differing(self, vector: Floats) -> NDArray[np.uint16]:
        """In how many dimensions the sign of each differs."""
        differing = np.zeros(len(self._rows), np.uint16)
        for words, asked in zip(self._signs, _signs(vector[None, :])[0], strict=True):
            differing += np.bitwise_count(words.all ^ asked)
        return differing


def _spread(vectors: Floats) -> Floats:
    """The vectors in the basis that they are held in; cosines are the same in both."""
    over = math.gcd(vectors.shape[-1], _SPREAD)
    spread: Floats = (_basis(over) @ vectors.reshape(*vectors.shape[:-1], over, -1)).reshape(vectors.shape)
    return spread


@functools.cache
def _basis(size: int) -> Floats:
    """Hadamard's: each of its unit vectors is as large in every dimension. The size is a power of two."""
    rows = np.ones((1, 1), np.float32)
    while len(rows) < size:
        rows = np.block([[rows, rows], [rows, -rows]])
    return rows / np.float32(math.sqrt(size))


def _signs(vectors: NDArray[np.int8] | Floats) -> NDArray[np.uint64]:
    """The signs of each vector as 64-bit words."""
    bits = np.packbits(vectors > 0, axis=1)
    spare = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, spare)))).view(np.uint64)
