"""THE table of operations on SQL: what carries out each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rememberd.ports import api_keys as api_key_ops
from rememberd.ports import audit as audit_ops
from rememberd.ports import feed as feed_ops
from rememberd.ports import holdings as holding_ops
from rememberd.ports import jobs as job_ops
from rememberd.ports import records as record_ops
from rememberd.ports import spool as spool_ops
from rememberd.ports import vectors as vector_ops
from rememberd.ports.records import Append
from rememberd.ports.storage import Write

from . import api_keys, audit, feed, holdings, jobs, records, replay, vectors
from .idempotency import learn_uses
from .threads import learn_threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from .transaction import Transaction

#: What one call writes.
Operations: TypeAlias = tuple[Write[Any], ...]

_OPERATIONS: dict[type[Write[Any]], Callable[[Transaction, Any], Awaitable[Any]]] = {
    Append: records.append,
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


async def carry_out(transaction: Transaction, operations: Operations) -> Any:
    """Carry out the operations of one call, in order; answers the first one's result."""
    first, *also = operations
    answer = await _OPERATIONS[type(first)](transaction, first)
    for operation in also:
        await _OPERATIONS[type(operation)](transaction, operation)
    return answer


async def look_ahead(transaction: Transaction, operations: Iterable[Write[Any]]) -> None:
    """Read at once what the appends of a group have to know; each by itself then has nothing to ask."""
    appends = [operation for operation in operations if isinstance(operation, Append)]
    await learn_threads(transaction, [(append.tenant, append.thread) for append in appends])
    await learn_uses(transaction, [(append.tenant, key) for append in appends for key in append.idempotency_keys])
