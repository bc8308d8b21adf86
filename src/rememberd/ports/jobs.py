"""Jobs: leased work, kept until it is done, cancelled or dead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from rememberd.model import Job, JobState

from .storage import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueue(Write[bool]):
    """Owe a job. False, and nothing written, if a job of that id exists."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Write["Job | None"]):
    """Lease the job that has been due longest, or whose lease ran out; None if there is none.

    Claiming counts an attempt. No two claims hold the same job at once. Between tenants it is fair: the tenant with
    the fewest running jobs (leases that ran out aside) goes first; of equals, the job owed first.
    A job of these tasks whose lease ran out on its last attempt becomes dead instead.
    """

    lease: str
    now: datetime
    lease_for: timedelta
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Write[bool]):
    """Lengthen a lease. False if the job is no longer held under it."""

    id: str
    lease: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish(Write[bool]):
    """The job is done. False, and nothing changed, if it is no longer held under this lease."""

    id: str
    lease: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail(Write[bool]):
    """The attempt failed: the job waits until ``retry_at``, or is dead if that was its last attempt.

    False, and nothing changed, if it is no longer held under this lease.
    """

    id: str
    lease: str
    error: str
    retry_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Write[bool]):
    """Give the job back, to be claimed at once by somebody else; the attempt does not count.

    False, and nothing changed, if it is no longer held under this lease.
    """

    id: str
    lease: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Write[bool]):
    """Give a waiting or running job up. False if it had ended."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(Write[bool]):
    """Let a dead or cancelled job wait again, with its attempts forgotten. False if it is neither."""

    id: str
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetJobs(Write[int]):
    """Forget the jobs that are done or cancelled and were owed before a moment; answers how many. Dead ones stay."""

    owed_before: datetime


class Jobs(Protocol):
    async def get(self, job_id: str) -> Job | None:
        """A job, or None."""
        ...

    async def list(self, state: JobState | None, limit: int) -> list[Job]:
        """Jobs in the order they were owed."""
        ...

    async def count(self) -> dict[JobState, int]:
        """How many jobs are in each state; states without jobs are left out."""
        ...
