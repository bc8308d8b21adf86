"""Where checks run: something that can open a storage, an index or windows, and open them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from rememberd.ports.backups import Backups
    from rememberd.ports.index import Index
    from rememberd.ports.spool import Spool
    from rememberd.ports.storage import Storage
    from rememberd.ports.windows import Windows


@runtime_checkable
class Place(Protocol):
    """A place that keeps a storage. It may hold other data: checks keep to tenants, tasks and ids of their own."""

    async def open_storage(self) -> Storage:
        """Open the storage; after it was closed, open it again with the same data."""
        ...


@runtime_checkable
class IndexPlace(Protocol):
    """A place that keeps an index, for the checks alone: they clear it."""

    async def open_index(self) -> Index:
        """Open the index; after it was closed, open it again, as it was or empty."""
        ...


@runtime_checkable
class WindowsPlace(Protocol):
    """A place that holds windows ready."""

    async def open_windows(self) -> Windows: ...


@runtime_checkable
class SpoolPlace(Protocol):
    """A place that keeps a spool, for the checks alone: it is empty to begin with."""

    async def open_spool(self) -> Spool:
        """Open the spool; after it was closed, open it again with the same calls."""
        ...


@runtime_checkable
class BackupsPlace(Protocol):
    """A place whose storage can be backed up."""

    async def open_storage(self) -> Storage: ...

    def backups(self) -> Backups:
        """What makes backups of that storage."""
        ...

    async def open_restored(self, archive: bytes) -> Storage:
        """Open a storage that is made of an archive, apart from the first one."""
        ...


AnyPlace: TypeAlias = Place | IndexPlace | WindowsPlace | SpoolPlace | BackupsPlace
