"""Columns that grow at their end: of numbers, and of strings that repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import DTypeLike, NDArray

    Mask = NDArray[np.bool_]
    Rows = NDArray[np.intp]
    Codes = NDArray[np.uint32]

_FIRST_ROOM = 16
_FEW_BITS = 0xFFFF


class Growing:
    """``all`` is the array as it is now; ``width`` is the length of a row, where a row has several values."""

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._room = np.empty(_FIRST_ROOM if width is None else (_FIRST_ROOM, width), dtype)
        self._size = 0

    @property
    def all(self) -> NDArray[Any]:
        return self._room[: self._size]

    def __len__(self) -> int:
        return self._size

    def extend(self, values: Sequence[Any] | NDArray[Any]) -> None:
        size = self._size + len(values)
        if size > len(self._room):
            room = np.empty((max(size, len(self._room) * 5 // 4), *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.all
            self._room = room
        self._room[self._size : size] = values
        self._size = size

    def fill(self, value: object, size: int) -> None:
        """Make it so long, if it is shorter, with the same value at every new place."""
        if size > self._size:
            self.extend(np.full(size - self._size, value, self._room.dtype))


class Coded:
    """A column of strings, or None, each held once; a row holds its number."""

    def __init__(self) -> None:
        self._codes = Growing(np.uint32)
        self._numbers: dict[str | None, int] = {}
        self._values: NDArray[np.object_] = np.empty(0, object)

    @property
    def values(self) -> list[str | None]:
        """Every string that stands, or stood, somewhere; each once."""
        return list(self._numbers)

    def extend(self, values: Sequence[str | None], codes: Codes) -> None:
        """Rows, told by the places of their values."""
        numbers = self._numbers
        known = [numbers.setdefault(value, len(numbers)) for value in values]
        self._codes.extend(np.array(known, np.uint32)[codes])

    def among(self, wanted: Iterable[str | None], rows: Rows | slice = slice(None)) -> Mask:
        """Of each of some rows, whether it has one of these values."""
        codes = self._codes.all[rows]
        there_are = [self._numbers[value] for value in wanted if value in self._numbers]
        kept: Mask = codes == there_are[0] if there_are else np.zeros(len(codes), bool)
        for number in there_are[1:]:
            kept |= codes == number
        return kept

    def of(self, rows: Rows) -> NDArray[np.object_]:
        """The values of some rows."""
        if len(self._values) < len(self._numbers):
            self._values = np.array(self.values, object)
        values: NDArray[np.object_] = self._values[self._codes.all[rows]]
        return values


def where(many: NDArray[Any], few: NDArray[Any]) -> tuple[Rows, Rows]:
    """Where any of a few numbers, which are in order, stands among many; and which of the few it is.

    Most of the many differ from all of the few in a few bits already.
    """
    if not len(few):
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    may_be = np.zeros(_FEW_BITS + 1, bool)
    may_be[_few_bits(few)] = True
    found = may_be[_few_bits(many)].nonzero()[0]
    likely = many[found]
    which = np.minimum(few.searchsorted(likely), len(few) - 1)
    sure = few[which] == likely
    return found[sure], which[sure]


def _few_bits(numbers: NDArray[Any]) -> NDArray[Any]:
    """The lowest bits, or what they become with those above 31, where the places of messages differ by thread."""
    bits: NDArray[Any] = (numbers ^ numbers >> 31) & _FEW_BITS
    return bits


def coded(column: Sequence[str | None]) -> tuple[list[str | None], Codes]:
    """Strings as the different ones among them, and of each its place there."""
    numbers: dict[str | None, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in column]
    return list(numbers), np.array(codes, np.uint32)
