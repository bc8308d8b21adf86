"""An array that grows at its end, without being copied each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

_FIRST_ROOM = 16


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
            room = np.empty((max(size, len(self._room) * 3 // 2), *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.all
            self._room = room
        self._room[self._size : size] = values
        self._size = size
