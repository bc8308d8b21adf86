"""Everything that can happen to jobs, at random, on two places."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from rememberd.model import Job, JobState
from rememberd.ports.jobs import Cancel, Claim, Enqueue, Fail, Finish, Heartbeat, Release, Retry

from .comparison import Comparison, Side, fresh_name

if TYPE_CHECKING:
    from rememberd.conformance import Place
    from rememberd.ports.storage import Write

    from .conftest import Drive

LEASES = ("lease-1", "lease-2")


class JobsMachine(Comparison):
    """Everything that can happen to jobs, of two tenants and two tasks."""

    def __init__(self, drive: Drive, other: Place) -> None:
        super().__init__(drive, other)
        self.tasks = (fresh_name("task"), fresh_name("task"))
        self.jobs: list[str] = []

    @rule(
        task=st.integers(0, 1),
        whose=st.sampled_from(["", "-2"]),
        due=st.integers(-10, 10),
        max_attempts=st.integers(1, 3),
        again=st.booleans(),
    )
    def enqueue(self, task: int, whose: str, due: int, max_attempts: int, again: bool) -> None:
        name = self.jobs[-1] if again and self.jobs else self.new_id()
        job = Job(
            id=name,
            tenant=self.tenant + whose,
            task=self.tasks[task],
            payload={"n": due},
            due_at=self.now + timedelta(seconds=due),
            created_at=self.now,
            max_attempts=max_attempts,
        )
        if self.both(lambda side: side.storage.write(Enqueue(job=job))):
            self.jobs.append(name)

    @rule(tasks=st.integers(1, 2), lease=st.sampled_from(LEASES), later=st.sampled_from([0, 1, 10, 30]))
    def claim(self, tasks: int, lease: str, later: int) -> None:
        self.seconds += later
        # Half a second keeps moments off the edge of a lease.
        operation = Claim(lease=lease, now=self.now, lease_for=timedelta(seconds=9.5), tasks=self.tasks[:tasks])

        async def claimed(side: Side) -> Job | None:
            job = await side.storage.write(operation)
            return job and _promised(job)

        self.both(claimed)

    @precondition(lambda self: self.jobs)
    @rule(number=st.integers(0, 50), lease=st.sampled_from(LEASES), what=st.integers(0, 5))
    def act(self, number: int, lease: str, what: int) -> None:
        name = self.jobs[number % len(self.jobs)]
        soon = self.now + timedelta(seconds=20)
        operations: tuple[Write[bool], ...] = (
            Heartbeat(id=name, lease=lease, until=soon + timedelta(seconds=0.5)),
            Finish(id=name, lease=lease),
            Fail(id=name, lease=lease, error=f"error {number}", retry_at=soon),
            Cancel(id=name),
            Retry(id=name, due_at=soon),
            Release(id=name, lease=lease),
        )
        self.both(lambda side: side.storage.write(operations[what]))

    @rule()
    def reopen(self) -> None:
        self.drive(self.other.reopen())

    @invariant()
    def everything_readable_is_the_same(self) -> None:
        self.both(self._everything)

    async def _everything(self, side: Side) -> list[object]:
        jobs = side.storage.jobs
        states: tuple[JobState | None, ...] = (None, "waiting", "running", "done", "dead", "cancelled")
        listed = [await jobs.list(state, 100_000) for state in states]
        return [
            [_promised(job) for name in self.jobs if (job := await jobs.get(name))],
            [[job.id for job in some if job.id in self.jobs] for some in listed],
        ]


def _promised(job: Job) -> Job:
    """A job without what the port leaves open: the error, except while it waits to be tried again."""
    return job if job.state == "waiting" and job.attempts else replace(job, error=None)
