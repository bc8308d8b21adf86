"""PostgreSQL through SQLAlchemy's async engine: one writing task with group commit, a pool of readers."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from sqlalchemy import event, text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from rememberd import patience, telemetry
from rememberd.errors import Conflict, RememberdError, StorageFull, StorageUnavailable

from .group import Work, commit_group, settle
from .silence import Silence
from .transaction import HEAD, LOCK, Transaction

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from .dialect import Addition, Statement
    from .operations import Operations
    from .transaction import Reader, Row, Values

R = TypeVar("R")

_GROUP_LIMIT = 128
_DISK_FULL = "53100"
_REFUSALS = ("21", "22", "23", "54", "P0")  # the classes of states that say what a statement is refused for


def translate(error: Exception) -> RememberdError:
    """The one place where the server's errors become ours."""
    cause = getattr(error, "orig", None)
    if getattr(cause, "sqlstate", None) == _DISK_FULL:
        return StorageFull("the database server's disk is full; free some space and try again")
    if isinstance(error, IntegrityError):
        return Conflict("something of that id is stored already")
    if isinstance(error, TimeoutError):
        return StorageUnavailable("the database server did not answer in time")
    return StorageUnavailable(f"the database server cannot be used now: {type(cause or error).__name__}")


_TRANSLATED = (SQLAlchemyError, OSError, TimeoutError)


async def _rows(connection: AsyncConnection, statement: Statement, values: Values) -> list[Row]:
    result = await connection.execute(statement.element, values)
    return [tuple(row) for row in result] if result.returns_rows else []


class _Reader:
    """Reads on one connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def rows(self, statement: Statement, /, **values: Any) -> list[Row]:
        return await _rows(self._connection, statement, values)


class ServerTransaction(Transaction):
    def __init__(self, connection: AsyncConnection, head: int) -> None:
        super().__init__(head, {})
        self._connection = connection

    async def _rows(self, statement: Statement, values: Values) -> list[Row]:
        return await _rows(self._connection, statement, values)

    async def _run(self, statement: Statement, values: Values) -> int:
        result = await self._connection.execute(statement.element, values)
        return result.rowcount

    async def _add(self, addition: Addition, rows: Sequence[Row]) -> None:
        named = [dict(zip(addition.columns, row, strict=True)) for row in rows]
        await self._connection.execute(addition.element, named)

    async def commit(self) -> None:
        try:
            await self._connection.commit()
        finally:
            await self._connection.close()

    async def rollback(self) -> None:
        try:
            await self._connection.rollback()
        finally:
            await self._connection.close()

    def refusal(self, error: Exception) -> RememberdError | None:
        state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
        return translate(error) if state.startswith(_REFUSALS) else None


class ServerExecutor:
    """Runs operations on a database server that other processes may use too."""

    exclusive = False
    head = None
    dialect = "postgresql"

    def __init__(self, url: str, *, pool_size: int = 5, max_overflow: int = 10, timeout: float = 10.0) -> None:
        self._engine = create_async_engine(
            url, pool_size=pool_size, max_overflow=max_overflow, pool_timeout=timeout, pool_pre_ping=False,
            connect_args={"timeout": timeout, "command_timeout": timeout},
        )  # fmt: skip
        self._timeout = timeout
        self._connections: WeakSet[Any] = WeakSet()
        event.listen(self._engine.sync_engine, "connect", self._connected)
        self._queue: asyncio.Queue[Work | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[Any]] = set()
        self._silence = Silence(timeout)
        self._version = "?"
        self._closed = False

    @property
    def description(self) -> str:
        return f"PostgreSQL {self._version}"

    async def start(self) -> None:
        try:
            async with self._engine.connect() as connection:
                self._version = str((await connection.execute(text("SHOW server_version"))).scalar_one())
        except _TRANSLATED as error:
            raise self._unreachable(error) from error
        self._task = asyncio.create_task(self._write_groups(), name="rememberd-write")

    def _unreachable(self, error: Exception) -> StorageUnavailable:
        """There is nothing to begin with; so it says what to look at."""
        why = str(getattr(error, "orig", None) or error) or "it does not answer"
        url = self._engine.url.set(drivername=self.dialect).render_as_string()
        return StorageUnavailable(
            f"{url} cannot be used: {why}; see that the server runs and that the URL is right, then start again"
        )

    async def migrate(self, migrate: Callable[[Callable[[str, Sequence[Any]], list[Row]]], None]) -> None:
        """Run migration steps in one transaction; processes that start together take turns."""

        def on_connection(connection: Any) -> None:
            connection.execute(text("SELECT pg_advisory_xact_lock(727668)"))

            def execute(sql: str, values: Sequence[Any]) -> list[Row]:
                named = {f"v{i}": value for i, value in enumerate(values)}
                for name in named:
                    sql = sql.replace("?", f":{name}", 1)
                result = connection.execute(text(sql), named)
                return [tuple(row) for row in result] if result.returns_rows else []

            migrate(execute)

        try:
            async with self._engine.begin() as connection:
                await connection.run_sync(on_connection)
        except _TRANSLATED as error:
            raise translate(error) from error

    async def write(self, operations: Operations) -> Any:
        self._check_open()
        self._silence.check()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(Work(operations, future))
        try:
            return await self._in_time(future)
        except TimeoutError as error:
            raise translate(error) from error
        finally:
            future.cancel()  # nobody waits for it any more

    def write_soon(self, operations: Operations) -> None:
        self._check_open()
        self._queue.put_nowait(Work(operations))

    async def read(self, look: Callable[[Reader], Awaitable[R]]) -> R:
        self._check_open()
        self._silence.check()
        try:
            return await self._in_time(self._asked(self._look(look)))
        except _TRANSLATED as error:
            raise translate(error) from error

    async def _look(self, look: Callable[[Reader], Awaitable[R]]) -> R:
        async with self._engine.connect() as connection:
            return await look(_Reader(connection))

    def _asked(self, work: Coroutine[Any, Any, R]) -> asyncio.Task[R]:
        """The work goes on by itself: clearing up may take longer than a caller should wait, and must not leave a
        half-open connection behind."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def _in_time(self, asked: asyncio.Future[R]) -> R:
        """What was answered, or ``TimeoutError`` when the call that asks has waited as long as it may."""
        began = time.monotonic()
        done, _ = await asyncio.wait((asked,), timeout=patience.left(self._timeout))
        if not done:
            asked.cancel()
            self._silence.waited_in_vain(began)
            raise TimeoutError
        if asked.cancelled():  # by the driver, as its connection broke; nobody asked us to stop
            raise ConnectionResetError
        return asked.result()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            self._silence.ended(answered=task.exception() is None)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        closing = asyncio.create_task(self._close())
        await asyncio.wait((closing,), timeout=0 if self._silence.lasts else self._timeout)
        if not closing.done():  # the server does not even say good-bye
            for connection in tuple(self._connections):
                connection.terminate()
        await closing

    async def _close(self) -> None:
        if self._task is not None:
            self._queue.put_nowait(None)
            await self._task
        if self._running:
            await asyncio.wait(self._running, timeout=self._timeout)
        await self._engine.dispose()

    def _connected(self, connection: Any, _: Any) -> None:
        self._connections.add(connection.driver_connection)

    def _check_open(self) -> None:
        if self._closed:
            raise StorageUnavailable("the storage is closed")

    async def _write_groups(self) -> None:
        more = True
        while more:
            group = [await self._queue.get()]
            while len(group) < _GROUP_LIMIT and not self._queue.empty():
                group.append(self._queue.get_nowait())
            more = None not in group
            works = [work for work in group if work is not None and not (work.future and work.future.done())]
            if works:
                await self._write_group(works)

    async def _write_group(self, group: list[Work]) -> None:
        failure: BaseException | None = None
        try:
            await self._in_time(self._asked(commit_group(self._begin, group)))
        except _TRANSLATED as error:
            failure = translate(error)
            group = group + self._waiting()
        except Exception as error:  # noqa: BLE001 - every caller is told; the writer itself must live on
            failure = error
        if failure is not None:
            telemetry.count("storage_lost_soon", sum(work.future is None for work in group))
        settle(group, failure)

    def _waiting(self) -> list[Work]:
        """What came while the server could not be used has waited long enough, and fails with the group."""
        waiting: list[Work] = []
        while not self._queue.empty():
            work = self._queue.get_nowait()
            if work is None:
                self._queue.put_nowait(None)
                break
            waiting.append(work)
        return waiting

    async def _begin(self) -> ServerTransaction:
        """A transaction that holds the lock, so that writers of all processes take turns."""
        connection = await self._engine.connect()
        try:
            await _rows(connection, LOCK, {})
            head: int = (await _rows(connection, HEAD, {}))[0][0]
        except BaseException:
            await connection.close()
            raise
        return ServerTransaction(connection, head)
