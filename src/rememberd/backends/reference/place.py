"""A place that lives as long as the process: what was closed opens again with the same data."""

from __future__ import annotations

from .index import ReferenceIndex
from .spool import Kept, ReferenceSpool
from .storage import ReferenceStorage
from .tables import Committed
from .windows import ReferenceWindows


class ReferencePlace:
    def __init__(self, windows_capacity: int = 1_000) -> None:
        self._committed = Committed()
        self._index = ReferenceIndex()
        self._spooled = Kept()
        self._windows_capacity = windows_capacity

    async def open_storage(self) -> ReferenceStorage:
        return ReferenceStorage(self._committed)

    async def open_index(self) -> ReferenceIndex:
        return self._index

    async def open_windows(self) -> ReferenceWindows:
        return ReferenceWindows(self._windows_capacity)

    async def open_spool(self) -> ReferenceSpool:
        return ReferenceSpool(self._spooled)
