"""The embedded index: blocks of documents in a file that may be dropped, and a shelf of them per tenant in memory.

A shelf is read when it is first searched, so opening reads nothing; the file's watermark survives a crash.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

import apsw

from rememberd import crash
from rememberd.backends.pool import ThreadPool
from rememberd.errors import Conflict, StorageUnavailable, disk_failure

from .block import Block
from .propose import propose
from .shelves import Shelves, read_shelf, tenants

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rememberd.ports.candidates import Candidates
    from rememberd.ports.index import Document, Embedded, Gone, Index, Search


T = TypeVar("T")

#: Raised when the schema, the terms or the codes of vectors change: an index of another format is made again.
_FORMAT = 8
_SCHEMA = """
CREATE TABLE state (watermark INTEGER NOT NULL);
INSERT INTO state VALUES (0);
CREATE TABLE blocks (number INTEGER PRIMARY KEY, tenant TEXT NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX blocks_tenant ON blocks (tenant, number, size);
"""


class FolderIndex:
    """Writes and reads take turns on one connection, in a thread of its own."""

    def __init__(self, path: Path | None) -> None:
        self._thread = ThreadPool(1, "rememberd-index")
        self._path = path
        self._connection: apsw.Connection | None = None
        self._shelves = Shelves()
        self._successor: FolderIndex | None = None
        self._closed = False

    async def watermark(self) -> int:
        return await self._run(_watermark)

    async def apply(self, changes: Sequence[Document | Embedded | Gone], upto: int) -> None:
        def apply(connection: apsw.Connection) -> None:
            by_tenant = defaultdict(list)
            for change in changes:
                by_tenant[change.tenant].append(change)
            try:
                with connection:
                    for tenant, some in by_tenant.items():
                        self._shelves.add(connection, tenant, Block.of(some))
                    crash.point("index.middle")
                    connection.execute("UPDATE state SET watermark = max(watermark, ?)", [upto])
            except BaseException:  # the file is as it was before; what is in memory may not be
                self._shelves.clear()
                raise

        await self._run(apply)

    async def search(self, search: Search) -> Candidates:
        return await self._run(lambda connection: self._search(connection, search))

    async def clear(self) -> None:
        def clear(connection: apsw.Connection) -> None:
            self._shelves.clear()
            with connection:
                connection.execute("DELETE FROM blocks; UPDATE state SET watermark = 0")

        await self._run(clear)

    async def digest(self) -> str:
        def digest(connection: apsw.Connection) -> str:
            whole = hashlib.sha256()
            for tenant in tenants(connection):
                for document in read_shelf(connection, tenant).canonical():
                    whole.update(tenant.encode() + b"\0" + document)
            return whole.hexdigest()

        return await self._run(digest)

    async def successor(self) -> FolderIndex:
        if self._successor is not None and not self._successor._closed:
            raise Conflict("the index is being made again already")
        self._successor = FolderIndex(None if self._path is None else self._path.with_name(f"next-{self._path.name}"))
        return self._successor

    async def give_way(self, successor: Index) -> bool:
        assert isinstance(successor, FolderIndex)
        reached = await successor.watermark()

        def give_way(connection: apsw.Connection) -> bool:
            if reached < _watermark(connection):
                return False
            self._connection = None
            connection.close()
            self._connection = successor._hand_over(self._path)
            self._shelves.clear()
            return True

        if not await self._run(give_way):
            return False
        await successor.close()
        return True

    def _hand_over(self, path: Path | None) -> apsw.Connection | None:
        """What was in memory as it is; a file takes its new name, and is opened again when it is needed."""
        connection, self._connection = self._connection, None
        if self._path is None or path is None:
            return connection
        assert connection is not None
        if connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE) != (0, 0):
            raise StorageUnavailable(f"somebody else has {self._path} open; end that, and rebuild again")
        connection.close()
        try:
            for log in _logs(path):  # of the old file, if somebody else had it open
                log.unlink(missing_ok=True)
            self._path.replace(path)
        except OSError as error:
            raise disk_failure(error, f"{path} cannot be replaced") from error
        return None

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True

        def close() -> None:
            if self._connection is not None:
                self._connection.close()

        await self._thread.run(close)
        self._thread.close()

    async def _run(self, use: Callable[[apsw.Connection], T]) -> T:
        if self._closed:
            raise StorageUnavailable("the index is closed")
        return await self._thread.run(self._use, use)

    def _use(self, use: Callable[[apsw.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = _open(self._path)
            return use(self._connection)
        except apsw.Error as error:
            raise StorageUnavailable(f"the index cannot be used now: {error}; rememberd rebuild") from error

    def _search(self, connection: apsw.Connection, search: Search) -> Candidates:
        return propose(self._shelves.get(connection, search.scope.tenant), search, _watermark(connection))


def _watermark(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT watermark FROM state").get)


def _open(path: Path | None) -> apsw.Connection:
    """Open the index; one that is damaged or of another format is dropped: it can be made again."""
    try:
        return _connect(path)
    except (apsw.CorruptError, apsw.NotADBError):
        assert path is not None
        for file in (path, *_logs(path)):
            file.unlink(missing_ok=True)
        return _connect(path)


def _logs(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def _connect(path: Path | None) -> apsw.Connection:
    connection = apsw.Connection(":memory:" if path is None else str(path))
    connection.set_busy_timeout(5000)
    connection.execute("PRAGMA journal_mode=WAL").fetchall()  # apsw goes on to a next statement only when read
    connection.execute("PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8000")
    found = connection.execute("PRAGMA user_version").get
    if found not in (0, _FORMAT):
        connection.close()
        raise apsw.NotADBError(f"an index of format {found}")
    if found == 0:
        with connection:
            connection.execute(_SCHEMA)
            connection.execute(f"PRAGMA user_version={_FORMAT}")
    return connection
