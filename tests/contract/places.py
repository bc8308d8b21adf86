"""THE table of places that the contract is run on. A new backend is a new row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from rememberd.backends.folder.backup import FolderBackups
from rememberd.backends.folder.index import FolderIndex
from rememberd.backends.folder.restore import restore
from rememberd.backends.folder.spool import FolderSpool
from rememberd.backends.reference import ReferencePlace
from rememberd.backends.reference.windows import ReferenceWindows
from rememberd.backends.sql.copy import copy_database
from rememberd.backends.sql.server import ServerExecutor
from rememberd.backends.sql.sqlite import SqliteExecutor
from rememberd.backends.sql.storage import SqlStorage
from rememberd.conformance import AnyPlace
from rememberd.wiring import now, server_url
from tests import postgres

#: Makes a place in a folder of its own, and clears it away at the end; servers are started and stopped here.
MakePlace: TypeAlias = Callable[[Path], AbstractContextManager[AnyPlace]]


@contextmanager
def reference(_folder: Path) -> Iterator[AnyPlace]:
    yield ReferencePlace()


class FolderPlace:
    """What ``connect(folder)`` is made of. Durability has tests of its own, so nothing waits for the disk here."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def open_storage(self) -> SqlStorage:
        return await SqlStorage.open(SqliteExecutor(self._path / "memory.db", synchronous="OFF"))

    async def open_index(self) -> FolderIndex:
        return FolderIndex(self._path / "index.db")

    async def open_windows(self) -> ReferenceWindows:
        return ReferenceWindows(1000)

    async def open_spool(self) -> FolderSpool:
        """Small files and little memory, so that every check rotates and reads from disk."""
        return await FolderSpool.open(self._path / "spool", file_bytes=2000, max_bytes=2**24, memory_limit=2)

    def backups(self) -> FolderBackups:
        return FolderBackups(self._path, copy_database, now)

    async def open_restored(self, archive: bytes) -> SqlStorage:
        file, elsewhere = self._path / "archive.zip", self._path / "elsewhere"
        file.write_bytes(archive)
        async for _ in restore(file, elsewhere, now, replace=True):
            pass
        return await FolderPlace(elsewhere).open_storage()


@contextmanager
def folder(path: Path) -> Iterator[AnyPlace]:
    yield FolderPlace(path)


class PostgreSQLPlace:
    """A database of its own on a real server; what is not storage is kept elsewhere."""

    def __init__(self) -> None:
        self._url = server_url(postgres.server().fresh_database())

    async def open_storage(self) -> SqlStorage:
        return await SqlStorage.open(ServerExecutor(self._url))

    async def open_windows(self) -> ReferenceWindows:
        return ReferenceWindows(0)


@contextmanager
def postgresql(_folder: Path) -> Iterator[AnyPlace]:
    yield PostgreSQLPlace()


#: A row is the maker, the name and, where a server is needed, ``marks=pytest.mark.integration``.
#: Every place offers a storage.
PLACES = [
    pytest.param(reference, id="reference"),
    pytest.param(folder, id="folder"),
    pytest.param(postgresql, id="postgresql", marks=pytest.mark.integration),
]

#: The places that offer an index and a spool too. PostgreSQL's are kept beside it, and are the folder's.
INDEX_PLACES = PLACES[:2]

#: The places that are backed up by rememberd.
BACKUPS_PLACES = PLACES[1:2]
