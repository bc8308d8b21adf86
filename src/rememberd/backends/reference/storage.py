"""The storage on tables in this process: a write works on a snapshot, which replaces the tables when all went well."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from rememberd.errors import RememberdError, StorageUnavailable
from rememberd.ports.api_keys import AddApiKey, RevokeApiKey
from rememberd.ports.audit import Note
from rememberd.ports.feed import Advance
from rememberd.ports.holdings import Put
from rememberd.ports.jobs import Cancel, Claim, Enqueue, Fail, Finish, ForgetJobs, Heartbeat, Release, Retry
from rememberd.ports.records import Append, BeginTurn, EndTurn, Touch
from rememberd.ports.spool import Replay
from rememberd.ports.vectors import DropVectors, PutVectors, Serve, Want

from . import api_keys, audit, feed, holdings, jobs, records, replay, vectors
from .tables import Committed, Tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from rememberd.ports.storage import Write

R = TypeVar("R")

#: THE table of operations: what carries out each of them.
OPERATIONS: dict[type[Write[Any]], Callable[[Tables, Any], Any]] = {
    Append: records.append,
    Touch: records.touch,
    BeginTurn: records.begin_turn,
    EndTurn: records.end_turn,
    Replay: replay.replay,
    Advance: feed.advance,
    Put: holdings.put,
    PutVectors: vectors.put_vectors,
    Want: vectors.want,
    Serve: vectors.serve,
    DropVectors: vectors.drop_vectors,
    Enqueue: jobs.enqueue,
    Claim: jobs.claim,
    Heartbeat: jobs.heartbeat,
    Finish: jobs.finish,
    Fail: jobs.fail,
    Release: jobs.release,
    Cancel: jobs.cancel,
    Retry: jobs.retry,
    ForgetJobs: jobs.forget,
    Note: audit.note,
    AddApiKey: api_keys.add,
    RevokeApiKey: api_keys.revoke,
}


class ReferenceStorage:
    """Keeps every promise of ``ports.storage.Storage`` as long as the process lives; ``committed`` outlives a close."""

    exclusive = True
    description = "reference (in process)"

    def __init__(self, committed: Committed | None = None) -> None:
        self._committed = committed or Committed()
        self._closed = False
        self.records = records.ReferenceRecords(self._committed)
        self.feed = feed.ReferenceFeed(self._committed)
        self.holdings = holdings.ReferenceHoldings(self._committed)
        self.vectors = vectors.ReferenceVectors(self._committed)
        self.jobs = jobs.ReferenceJobs(self._committed)
        self.audit = audit.ReferenceAudit(self._committed)
        self.api_keys = api_keys.ReferenceApiKeys(self._committed)

    async def write(self, first: Write[R], /, *also: Write[Any]) -> R:
        self._refuse_if_closed()
        return self._carry_out(first, *also)

    def write_soon(self, operation: Write[Any], /) -> None:
        self._refuse_if_closed()
        with suppress(RememberdError):  # nobody waits for the answer, so nobody can be told
            self._carry_out(operation)

    async def check(self) -> None:
        self._refuse_if_closed()

    async def close(self) -> None:
        self._closed = True

    def _carry_out(self, first: Write[R], *also: Write[Any]) -> R:
        tables = self._committed.tables.snapshot()
        answer: R = OPERATIONS[type(first)](tables, first)
        for operation in also:
            OPERATIONS[type(operation)](tables, operation)
        self._committed.tables = tables
        return answer

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StorageUnavailable("the storage is closed")
