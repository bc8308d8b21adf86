"""What a check works with: an opened port, and names, ids and moments that nobody else uses."""

from __future__ import annotations

import itertools
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rememberd.model import Filters, Scope
from rememberd.ports.index import Search

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rememberd.ports.candidates import Candidates
    from rememberd.ports.index import Index
    from rememberd.ports.spool import Spool
    from rememberd.ports.storage import Storage
    from rememberd.ports.windows import Windows

    from .place import BackupsPlace, IndexPlace, Place, SpoolPlace, WindowsPlace

_EPOCH = datetime(2026, 1, 1, 12, 0, 0, 123_457, tzinfo=UTC)
_NUMBERS = itertools.count(time.time_ns())


def new_id() -> str:
    """An id above every earlier one."""
    return f"{next(_NUMBERS):032x}"


def moment(seconds: float = 0) -> datetime:
    """So many seconds after the beginning of every trial."""
    return _EPOCH + timedelta(seconds=seconds)


class StorageTrial:
    """An opened storage with a tenant of the trial's own."""

    def __init__(self, place: Place, storage: Storage) -> None:
        self._place = place
        self.storage = storage
        self.tenant = f"trial-{new_id()}"

    @classmethod
    @asynccontextmanager
    async def on(cls, place: Place) -> AsyncIterator[StorageTrial]:
        trial = cls(place, await place.open_storage())
        try:
            yield trial
        finally:
            await trial.storage.close()

    async def reopen(self) -> None:
        await self.storage.close()
        self.storage = await self._place.open_storage()


class IndexTrial:
    """An opened, empty index."""

    def __init__(self, place: IndexPlace, index: Index) -> None:
        self._place = place
        self.index = index
        self.tenant = f"trial-{new_id()}"

    @classmethod
    @asynccontextmanager
    async def on(cls, place: IndexPlace) -> AsyncIterator[IndexTrial]:
        trial = cls(place, await place.open_index())
        try:
            await trial.index.clear()
            yield trial
        finally:
            await trial.index.close()

    async def reopen(self) -> None:
        await self.index.close()
        self.index = await self._place.open_index()

    async def search(self, *terms: str, tenant: str | None = None, **fields: Any) -> Candidates:
        """What a user finds with these terms, if nothing else is said."""
        scope = Scope(tenant or self.tenant, "lin")
        return await self.index.search(Search(**{"scope": scope, "filters": Filters(), **fields}, terms=terms))

    async def ids(self, *terms: str, **fields: Any) -> list[str]:
        return [each.id for each in (await self.search(*terms, **fields)).found]


class SpoolTrial:
    """An opened spool; what a trial leaves behind is let go of at its end."""

    def __init__(self, place: SpoolPlace, spool: Spool) -> None:
        self._place = place
        self.spool = spool
        self.tenant = f"trial-{new_id()}"

    @classmethod
    @asynccontextmanager
    async def on(cls, place: SpoolPlace) -> AsyncIterator[SpoolTrial]:
        trial = cls(place, await place.open_spool())
        try:
            yield trial
        finally:
            await trial.reopen()
            await trial.spool.remove([call.id async for call in trial.spool.waiting()])
            await trial.spool.discard([letter.call.id for letter in await trial.spool.dead_letters()])
            await trial.spool.close()

    async def reopen(self) -> None:
        await self.spool.close()
        self.spool = await self._place.open_spool()


class BackupsTrial:
    """An opened storage with a tenant of the trial's own, and what backs it up."""

    def __init__(self, place: BackupsPlace, storage: Storage) -> None:
        self._place = place
        self.storage = storage
        self.backups = place.backups()
        self.tenant = f"trial-{new_id()}"

    @classmethod
    @asynccontextmanager
    async def on(cls, place: BackupsPlace) -> AsyncIterator[BackupsTrial]:
        trial = cls(place, await place.open_storage())
        try:
            yield trial
        finally:
            await trial.storage.close()

    @asynccontextmanager
    async def restored(self, archive: bytes) -> AsyncIterator[Storage]:
        storage = await self._place.open_restored(archive)
        try:
            yield storage
        finally:
            await storage.close()


class WindowsTrial:
    """Windows, with a tenant of the trial's own."""

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self.tenant = f"trial-{new_id()}"

    @classmethod
    @asynccontextmanager
    async def on(cls, place: WindowsPlace) -> AsyncIterator[WindowsTrial]:
        yield cls(await place.open_windows())
