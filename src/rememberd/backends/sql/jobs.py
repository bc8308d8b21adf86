"""Jobs on SQL. Writers are serial, so a claim is a look and an update."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import and_, bindparam, delete, func, insert, or_, select, update

from rememberd.model import Job, JobState

from .dialect import Statement, in_list, integer
from .schema import jobs
from .values import json_text, json_value, maybe_moment, micros, moment, string_list

if TYPE_CHECKING:
    from rememberd.ports.jobs import Cancel, Claim, Enqueue, Fail, Finish, ForgetJobs, Heartbeat, Release, Retry

    from .storage import Executor
    from .transaction import Reader, Row, Transaction

_GET = Statement(select(jobs).where(jobs.c.id == bindparam("job")))
_ADD = Statement(insert(jobs))
_COUNT = Statement(select(jobs.c.state, func.count()).group_by(jobs.c.state))
_RUNNING = Statement(
    select(jobs.c.tenant, func.count())
    .where(jobs.c.state == "running", jobs.c.leased_until > integer("now"))
    .group_by(jobs.c.tenant)
)
_CLAIMABLE = Statement(
    select(jobs)
    .where(
        in_list(jobs.c.task, "tasks"),
        or_(
            and_(jobs.c.state == "waiting", jobs.c.due_at <= integer("now")),
            and_(jobs.c.state == "running", jobs.c.leased_until <= integer("now")),
        ),
    )
    .order_by(jobs.c.due_at, jobs.c.created_at, jobs.c.id)
)
_CHANGE = Statement(
    update(jobs)
    .where(jobs.c.id == bindparam("job"))
    .values(
        state=bindparam("to_state"),
        due_at=integer("due"),
        attempts=integer("tried"),
        lease=bindparam("held"),
        leased_until=integer("until"),
        error=bindparam("told"),
    )
)
_FORGET = Statement(
    delete(jobs).where(
        or_(jobs.c.state == "done", jobs.c.state == "cancelled"), jobs.c.created_at < integer("owed_before")
    )
)


@functools.cache
def _listed(*, by_state: bool) -> Statement:
    listed = select(jobs).order_by(jobs.c.created_at, jobs.c.id).limit(integer("limit"))
    return Statement(listed.where(jobs.c.state == bindparam("wanted")) if by_state else listed)


def _job(row: Row) -> Job:
    id_, tenant, task, payload, state, due, created, attempts, max_attempts, lease, until, error = row
    return Job(
        id=id_, tenant=tenant, task=task, payload=json_value(payload), state=cast("JobState", state),
        due_at=moment(due), created_at=moment(created), attempts=attempts, max_attempts=max_attempts, lease=lease,
        leased_until=maybe_moment(until), error=error,
    )  # fmt: skip


async def _get(reader: Reader, job_id: str) -> Job | None:
    rows = await reader.rows(_GET, job=job_id)
    return _job(rows[0]) if rows else None


class SqlJobs:
    def __init__(self, executor: Executor) -> None:
        self._read = executor.read

    async def get(self, job_id: str) -> Job | None:
        return await self._read(lambda reader: _get(reader, job_id))

    async def list(self, state: JobState | None, limit: int) -> list[Job]:
        values: dict[str, Any] = {"limit": limit} if state is None else {"limit": limit, "wanted": state}
        rows = await self._read(lambda reader: reader.rows(_listed(by_state=state is not None), **values))
        return [_job(row) for row in rows]

    async def count(self) -> dict[JobState, int]:
        rows = await self._read(lambda reader: reader.rows(_COUNT))
        return {cast("JobState", state): number for state, number in rows}


async def enqueue(transaction: Transaction, op: Enqueue) -> bool:
    job = op.job
    if await _get(transaction, job.id) is not None:
        return False
    await transaction.run(
        _ADD, id=job.id, tenant=job.tenant, task=job.task, payload=json_text(job.payload), state=job.state,
        due_at=micros(job.due_at), created_at=micros(job.created_at), attempts=job.attempts,
        max_attempts=job.max_attempts, lease=job.lease, leased_until=None, error=job.error,
    )  # fmt: skip
    return True


async def claim(transaction: Transaction, op: Claim) -> Job | None:
    rows = await transaction.rows(_CLAIMABLE, tasks=string_list(op.tasks), now=micros(op.now))
    claimable: list[Job] = []
    for job in map(_job, rows):
        if job.state == "running" and job.attempts >= job.max_attempts:
            await _change(transaction, job, state="dead", error=job.error or "the worker went away")
        else:
            claimable.append(job)
    if not claimable:
        return None
    running: dict[str, int] = dict(await transaction.rows(_RUNNING, now=micros(op.now)))
    job = min(claimable, key=lambda job: running.get(job.tenant, 0))
    until = micros(op.now + op.lease_for)
    await _change(transaction, job, state="running", attempts=job.attempts + 1, lease=op.lease, until=until)
    return await _get(transaction, job.id)


async def _change(
    transaction: Transaction,
    job: Job,
    *,
    state: JobState,
    due: int | None = None,
    attempts: int | None = None,
    lease: str | None = None,
    until: int | None = None,
    error: str | None = None,
) -> None:
    await transaction.run(
        _CHANGE, job=job.id, to_state=state, due=micros(job.due_at) if due is None else due,
        tried=job.attempts if attempts is None else attempts, held=lease, until=until, told=error or job.error,
    )  # fmt: skip


async def _held(transaction: Transaction, job_id: str, lease: str) -> Job | None:
    job = await _get(transaction, job_id)
    return job if job is not None and job.state == "running" and job.lease == lease else None


async def heartbeat(transaction: Transaction, op: Heartbeat) -> bool:
    job = await _held(transaction, op.id, op.lease)
    if job is None:
        return False
    await _change(transaction, job, state="running", lease=op.lease, until=micros(op.until))
    return True


async def finish(transaction: Transaction, op: Finish) -> bool:
    job = await _held(transaction, op.id, op.lease)
    if job is None:
        return False
    await _change(transaction, job, state="done")
    return True


async def fail(transaction: Transaction, op: Fail) -> bool:
    job = await _held(transaction, op.id, op.lease)
    if job is None:
        return False
    state: JobState = "dead" if job.attempts >= job.max_attempts else "waiting"
    await _change(transaction, job, state=state, due=micros(op.retry_at), error=op.error)
    return True


async def release(transaction: Transaction, op: Release) -> bool:
    job = await _held(transaction, op.id, op.lease)
    if job is None:
        return False
    await _change(transaction, job, state="waiting", attempts=job.attempts - 1)
    return True


async def forget(transaction: Transaction, op: ForgetJobs) -> int:
    return await transaction.run(_FORGET, owed_before=micros(op.owed_before))


async def cancel(transaction: Transaction, op: Cancel) -> bool:
    job = await _get(transaction, op.id)
    if job is None or job.state not in ("waiting", "running"):
        return False
    await _change(transaction, job, state="cancelled")
    return True


async def retry(transaction: Transaction, op: Retry) -> bool:
    job = await _get(transaction, op.id)
    if job is None or job.state not in ("dead", "cancelled"):
        return False
    await _change(transaction, job, state="waiting", due=micros(op.due_at), attempts=0)
    return True
