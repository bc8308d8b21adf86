"""SQLite through apsw: one writer thread with group commit, readers beside it."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from rememberd import telemetry
from rememberd.backends.pool import ThreadPool
from rememberd.errors import Conflict, DamagedStore, RememberdError, StorageFull, StorageUnavailable

from .group import Work, commit_group, settle
from .transaction import HEAD, Transaction

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from pathlib import Path

    from .dialect import Addition, Statement
    from .operations import Operations
    from .transaction import Reader, Row, Threads, Values

R = TypeVar("R")

#: The first release without the bug that could corrupt a WAL reset under load.
OLDEST_SAFE = 3051003

_GROUP_LIMIT = 256
_THREADS_KNOWN = 10_000
_REFUSALS = (apsw.ConstraintError, apsw.MismatchError, apsw.RangeError, apsw.SQLError, apsw.TooBigError)
_SOON = 0.02  # how long work that nobody waits for may wait for company, in seconds


def drive(coroutine: Coroutine[Any, Any, R] | Awaitable[R]) -> R:
    """Run a coroutine that never has to wait, in this thread, without an event loop."""
    try:
        coroutine.send(None)  # type: ignore[union-attr]
    except StopIteration as end:
        answer: R = end.value
        return answer
    raise AssertionError("an operation on SQLite had to wait")


def translate(error: apsw.Error) -> RememberdError:
    """The one place where SQLite's errors become ours."""
    if isinstance(error, apsw.FullError):
        return StorageFull("the disk is full; free some space and try again")
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return DamagedStore(f"the database file is damaged ({error}); restore a backup")
    if isinstance(error, apsw.ConstraintError):
        return Conflict("something of that id is stored already")
    return StorageUnavailable(f"SQLite cannot be used now: {error}")


def connect(
    path: Path | str,
    *,
    synchronous: str,
    read_only: bool = False,
    lock_timeout: float = 5.0,
    vfs: str | None = None,
) -> apsw.Connection:
    if apsw.SQLITE_VERSION_NUMBER < OLDEST_SAFE:
        raise StorageUnavailable(f"SQLite {apsw.sqlite_lib_version()} can corrupt its log; update apsw")
    try:
        connection = apsw.Connection(str(path), vfs=vfs)
        connection.set_busy_timeout(int(lock_timeout * 1000))
        if read_only:
            connection.execute("PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0")
        else:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()  # apsw goes on to a next statement only when read
            connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA cache_size=-16000")
    except apsw.Error as error:
        raise translate(error) from error
    return connection


def _rows(connection: apsw.Connection, statement: Statement, values: Values) -> list[Row]:
    text, bind = statement.sqlite
    return list(connection.execute(text, bind(values)))


class _Reader:
    """Reads on one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def rows(self, statement: Statement, /, **values: Any) -> list[Row]:
        return _rows(self._connection, statement, values)


class SqliteTransaction(Transaction):
    """``threads`` are those that are known from before; ``committed`` is told how far a commit brought the feed."""

    def __init__(
        self, connection: apsw.Connection, head: int | None, threads: Threads, committed: Callable[[int], None]
    ) -> None:
        connection.execute("BEGIN IMMEDIATE")
        super().__init__(_rows(connection, HEAD, {})[0][0] if head is None else head, threads)
        self._connection = connection
        self._committed = committed

    async def _rows(self, statement: Statement, values: Values) -> list[Row]:
        return _rows(self._connection, statement, values)

    async def _run(self, statement: Statement, values: Values) -> int:
        text, bind = statement.sqlite
        self._connection.execute(text, bind(values))
        return self._connection.changes()

    async def _add(self, addition: Addition, rows: Sequence[Row]) -> None:
        self._connection.executemany(addition.sqlite[0], rows)

    async def commit(self) -> None:
        self._connection.execute("COMMIT")
        self._committed(self.position)

    async def rollback(self) -> None:
        self.threads.clear()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def refusal(self, error: Exception) -> RememberdError | None:
        return translate(error) if isinstance(error, _REFUSALS) else None


class SqliteExecutor:
    """Runs operations on one database file that nobody else writes to.

    ``vfs`` names what stands between SQLite and the disk, if it is not the operating system.
    """

    exclusive = True
    dialect = "sqlite"

    def __init__(
        self,
        path: Path,
        *,
        synchronous: str = "FULL",
        readers: int = 4,
        lock_timeout: float = 5.0,
        vfs: str | None = None,
    ) -> None:
        self._path = path
        self._name, self._vfs = str(path), vfs
        self._writer = connect(path, synchronous=synchronous, lock_timeout=lock_timeout, vfs=vfs)
        self._inode = path.stat().st_ino
        self.head: int | None = None
        self._threads: Threads = {}
        self._queue: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._soon: deque[Work] = deque()
        self._flush_due = False
        self._local = threading.local()
        self._connections: list[apsw.Connection] = []
        self._readers = ThreadPool(readers, "rememberd-read")
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def description(self) -> str:
        return f"SQLite {apsw.sqlite_lib_version()}"

    async def start(self) -> None:
        self._thread = threading.Thread(target=self._write_groups, name="rememberd-write", daemon=True)
        self._thread.start()

    async def migrate(self, migrate: Callable[[Callable[[str, Sequence[Any]], list[Row]]], None]) -> None:
        """Run migration steps, before the first operation, in one transaction."""

        def execute(sql: str, values: Sequence[Any]) -> list[Row]:
            return list(self._writer.execute(sql, values))

        try:
            with self._writer:
                migrate(execute)
        except apsw.Error as error:
            raise translate(error) from error

    def write(self, operations: Operations) -> asyncio.Future[Any]:
        self._check_open()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.put(Work(operations, future))
        return future

    def write_soon(self, operations: Operations) -> None:
        """Wait for the next group; if none comes, make one a little later."""
        self._check_open()
        self._soon.append(Work(operations))
        if not self._flush_due:
            self._flush_due = True
            asyncio.get_running_loop().call_later(_SOON, self._flush_soon)

    async def read(self, look: Callable[[Reader], Awaitable[R]]) -> R:
        self._check_open()
        return await self._readers.run(self._look, look)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        self._readers.close()
        for connection in self._connections:
            connection.close()
        self._writer.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StorageUnavailable("the storage is closed")

    def _look(self, look: Callable[[Reader], Awaitable[R]]) -> R:
        reader: _Reader | None = getattr(self._local, "reader", None)
        try:
            if reader is None:
                connection = connect(self._path, synchronous="FULL", read_only=True, vfs=self._vfs)
                self._connections.append(connection)
                reader = self._local.reader = _Reader(connection)
            return drive(look(reader))
        except apsw.Error as error:
            raise translate(error) from error

    def _flush_soon(self) -> None:
        self._flush_due = False
        if self._soon and not self._closed:
            self._queue.put(self._soon.popleft())

    def _write_groups(self) -> None:
        more = True
        while more:
            waiting: list[Work | None] = [self._queue.get()]
            with suppress(queue.Empty):
                while len(waiting) < _GROUP_LIMIT:
                    waiting.append(self._queue.get_nowait())
            more = None not in waiting
            group = [work for work in waiting if work is not None]
            with suppress(IndexError):
                while len(group) < 2 * _GROUP_LIMIT or not more:
                    group.append(self._soon.popleft())
            if group:
                self._write_group(group)

    def _write_group(self, group: list[Work]) -> None:
        failure: BaseException | None = None
        try:
            drive(commit_group(self._begin, group))
        except apsw.Error as error:
            failure = translate(error)
            if isinstance(error, apsw.BusyError):
                group = group + self._waiting()
            self._abandon()
        except BaseException as error:  # noqa: BLE001 - every caller is told; the writer itself must live on
            failure = error
            self._abandon()
        if failure is not None:
            telemetry.count("storage_lost_soon", sum(work.future is None for work in group))
        by_loop: dict[asyncio.AbstractEventLoop, list[Work]] = {}
        for work in group:
            if work.future is not None:
                by_loop.setdefault(work.future.get_loop(), []).append(work)
        for loop, works in by_loop.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, works, failure)

    def _waiting(self) -> list[Work]:
        """What came while the storage was locked has waited long enough, and fails with the group."""
        waiting: list[Work] = []
        with suppress(queue.Empty):
            while (work := self._queue.get_nowait()) is not None:
                waiting.append(work)
            self._queue.put(None)
        return waiting

    async def _begin(self) -> SqliteTransaction:
        if not self._is_in_place():
            raise StorageUnavailable(
                f"{self._path} was moved or removed while it was in use; put it back or start again"
            )
        if len(self._threads) > _THREADS_KNOWN:
            self._threads.clear()
        return SqliteTransaction(self._writer, self.head, self._threads, self._committed)

    def _committed(self, head: int) -> None:
        self.head = head

    def _is_in_place(self) -> bool:
        """A file that was removed could still be written to, and all of it would be lost."""
        try:
            return os.stat(self._name).st_ino == self._inode
        except OSError:
            return False

    def _abandon(self) -> None:
        self.head = None  # whether a commit that failed has left anything, only the file can tell
        self._threads.clear()
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")
