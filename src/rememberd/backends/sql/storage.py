"""The storage on SQL: ports for reading, and a table of operations for writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from rememberd.ports import api_keys as api_key_ops
from rememberd.ports import audit as audit_ops
from rememberd.ports import feed as feed_ops
from rememberd.ports import holdings as holding_ops
from rememberd.ports import jobs as job_ops
from rememberd.ports import records as record_ops
from rememberd.ports import spool as spool_ops
from rememberd.ports import vectors as vector_ops

from . import api_keys, audit, feed, holdings, jobs, records, replay, vectors
from .migrate import apply_migrations
from .transaction import HEAD, Operate, Reader, Row, Transaction

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rememberd.ports.storage import Write

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

_OPERATIONS: dict[type[Write[Any]], Callable[[Transaction, Any], Awaitable[Any]]] = {
    record_ops.Append: records.append,
    record_ops.Touch: records.touch,
    record_ops.BeginTurn: records.begin_turn,
    record_ops.EndTurn: records.end_turn,
    spool_ops.Replay: replay.replay,
    feed_ops.Advance: feed.advance,
    holding_ops.Put: holdings.put,
    vector_ops.PutVectors: vectors.put_vectors,
    vector_ops.Want: vectors.want,
    vector_ops.Serve: vectors.serve,
    vector_ops.DropVectors: vectors.drop_vectors,
    job_ops.Enqueue: jobs.enqueue,
    job_ops.Claim: jobs.claim,
    job_ops.Heartbeat: jobs.heartbeat,
    job_ops.Finish: jobs.finish,
    job_ops.Fail: jobs.fail,
    job_ops.Release: jobs.release,
    job_ops.Cancel: jobs.cancel,
    job_ops.Retry: jobs.retry,
    job_ops.ForgetJobs: jobs.forget,
    audit_ops.Note: audit.note,
    api_key_ops.AddApiKey: api_keys.add_api_key,
    api_key_ops.RevokeApiKey: api_keys.revoke_api_key,
}


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

    async def write(self, operate: Operate) -> Any: ...

    def write_soon(self, operate: Operate) -> None: ...

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
        async def operate(transaction: Transaction) -> Any:
            answer = await _OPERATIONS[type(first)](transaction, first)
            for operation in also:
                await _OPERATIONS[type(operation)](transaction, operation)
            return answer

        return cast("R_co", await self._executor.write(operate))

    def write_soon(self, operation: Write[Any], /) -> None:
        self._executor.write_soon(lambda transaction: _OPERATIONS[type(operation)](transaction, operation))

    async def check(self) -> None:
        await self._executor.read(lambda reader: reader.rows(HEAD))

    async def close(self) -> None:
        await self._executor.close()
