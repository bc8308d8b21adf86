"""The storage on SQL: ports for reading, and a table of operations for writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from . import api_keys, audit, feed, holdings, jobs, records, vectors
from .migrate import apply_migrations
from .transaction import HEAD

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rememberd.ports.storage import Write

    from .operations import Operations
    from .transaction import Reader, Row

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Executor(Protocol):
    """Runs statements somewhere; ``sqlite.SqliteExecutor`` and ``server.ServerExecutor`` do.

    ``head`` is how far its commits have brought the feed, where it knows: nobody else writes, and it has written.
    """

    exclusive: bool
    dialect: str

    @property
    def head(self) -> int | None: ...

    @property
    def description(self) -> str: ...

    async def start(self) -> None: ...

    async def migrate(self, migrate: Callable[[Callable[[str, Sequence[Any]], list[Row]]], None]) -> None: ...

    def write(self, operations: Operations) -> Awaitable[Any]: ...

    def write_soon(self, operations: Operations) -> None: ...

    async def read(self, look: Callable[[Reader], Awaitable[R]]) -> R: ...

    async def close(self) -> None: ...


class SqlStorage:
    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.records = records.SqlRecords(executor)
        self.feed = feed.SqlFeed(executor)
        self.holdings = holdings.SqlHoldings(executor)
        self.vectors = vectors.SqlVectors(executor)
        self.jobs = jobs.SqlJobs(executor)
        self.audit = audit.SqlAudit(executor)
        self.api_keys = api_keys.SqlApiKeys(executor)

    @classmethod
    async def open(cls, executor: Executor) -> SqlStorage:
        """Bring the database up to date, then start."""
        try:
            await executor.start()
            await executor.migrate(apply_migrations(executor.dialect))
        except BaseException:
            await executor.close()
            raise
        return cls(executor)

    @property
    def exclusive(self) -> bool:
        return self._executor.exclusive

    @property
    def description(self) -> str:
        return self._executor.description

    async def write(self, first: Write[R_co], /, *also: Write[Any]) -> R_co:
        return cast("R_co", await self._executor.write((first, *also)))

    def write_soon(self, operation: Write[Any], /) -> None:
        self._executor.write_soon((operation,))

    async def check(self) -> None:
        await self._executor.read(lambda reader: reader.rows(HEAD))

    async def close(self) -> None:
        await self._executor.close()
