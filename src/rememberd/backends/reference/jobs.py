"""Jobs on a dict in this process, which keeps them in the order they were owed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .tables import Committed, Tables

if TYPE_CHECKING:
    from datetime import datetime

    from rememberd.model import Job, JobState
    from rememberd.ports.jobs import Cancel, Claim, Enqueue, Fail, Finish, ForgetJobs, Heartbeat, Release, Retry


def enqueue(tables: Tables, operation: Enqueue) -> bool:
    if operation.job.id in tables.jobs:
        return False
    tables.jobs[operation.job.id] = operation.job
    return True


def claim(tables: Tables, operation: Claim) -> Job | None:
    _bury(tables, operation)
    running = Counter(job.tenant for job in tables.jobs.values() if _is_running(job, operation.now))
    claimable = [
        job for job in tables.jobs.values() if job.task in operation.tasks and _is_claimable(job, operation.now)
    ]
    if not claimable:
        return None
    job = min(claimable, key=lambda job: (running[job.tenant], job.due_at))  # of equals, the one owed first
    tables.jobs[job.id] = replace(
        job,
        state="running",
        attempts=job.attempts + 1,
        lease=operation.lease,
        leased_until=operation.now + operation.lease_for,
    )
    return tables.jobs[job.id]


def heartbeat(tables: Tables, operation: Heartbeat) -> bool:
    job = _held(tables, operation)
    if job is None:
        return False
    tables.jobs[job.id] = replace(job, leased_until=operation.until)
    return True


def finish(tables: Tables, operation: Finish) -> bool:
    job = _held(tables, operation)
    if job is None:
        return False
    tables.jobs[job.id] = _released(job, "done")
    return True


def fail(tables: Tables, operation: Fail) -> bool:
    job = _held(tables, operation)
    if job is None:
        return False
    if job.attempts >= job.max_attempts:
        released = _released(job, "dead")
    else:
        released = replace(_released(job, "waiting"), due_at=operation.retry_at)
    tables.jobs[job.id] = replace(released, error=operation.error)
    return True


def release(tables: Tables, operation: Release) -> bool:
    job = _held(tables, operation)
    if job is None:
        return False
    tables.jobs[job.id] = replace(_released(job, "waiting"), attempts=job.attempts - 1)
    return True


def forget(tables: Tables, operation: ForgetJobs) -> int:
    ended = [
        job.id
        for job in tables.jobs.values()
        if job.state in ("done", "cancelled") and job.created_at < operation.owed_before
    ]
    for job_id in ended:
        del tables.jobs[job_id]
    return len(ended)


def cancel(tables: Tables, operation: Cancel) -> bool:
    job = tables.jobs.get(operation.id)
    if job is None or job.state not in ("waiting", "running"):
        return False
    tables.jobs[job.id] = _released(job, "cancelled")
    return True


def retry(tables: Tables, operation: Retry) -> bool:
    job = tables.jobs.get(operation.id)
    if job is None or job.state not in ("dead", "cancelled"):
        return False
    tables.jobs[job.id] = replace(_released(job, "waiting"), attempts=0, due_at=operation.due_at, error=None)
    return True


@dataclass(frozen=True, slots=True)
class ReferenceJobs:
    committed: Committed

    async def get(self, job_id: str) -> Job | None:
        return self.committed.tables.jobs.get(job_id)

    async def list(self, state: JobState | None, limit: int) -> list[Job]:
        return [job for job in self.committed.tables.jobs.values() if state is None or job.state == state][:limit]

    async def count(self) -> dict[JobState, int]:
        return dict(Counter(job.state for job in self.committed.tables.jobs.values()))


def _bury(tables: Tables, operation: Claim) -> None:
    """Declare dead what ran out of its lease on its last attempt."""
    for job in list(tables.jobs.values()):
        if job.task in operation.tasks and _lease_ran_out(job, operation.now) and job.attempts >= job.max_attempts:
            tables.jobs[job.id] = replace(_released(job, "dead"), error="the lease ran out on the last attempt")


def _is_running(job: Job, now: datetime) -> bool:
    return job.state == "running" and not _lease_ran_out(job, now)


def _is_claimable(job: Job, now: datetime) -> bool:
    return (job.state == "waiting" and job.due_at <= now) or _lease_ran_out(job, now)


def _lease_ran_out(job: Job, now: datetime) -> bool:
    return job.state == "running" and job.leased_until is not None and job.leased_until <= now


def _held(tables: Tables, operation: Heartbeat | Finish | Fail | Release) -> Job | None:
    """The job, if it runs under the operation's lease."""
    job = tables.jobs.get(operation.id)
    return job if job is not None and job.state == "running" and job.lease == operation.lease else None


def _released(job: Job, state: JobState) -> Job:
    return replace(job, state=state, lease=None, leased_until=None)
