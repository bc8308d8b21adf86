"""The worker: claims jobs, keeps their leases, and says how each of them ended."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from rememberd import telemetry
from rememberd.errors import RememberdError
from rememberd.model import Job
from rememberd.ports.jobs import Claim, Fail, Finish, Heartbeat, Release
from rememberd.ports.parts import Parts

from .schedule import owe_what_is_due
from .tasks import TASKS, Task

_PATIENCE = 3.0  # seconds


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: how long a lease is and how often it is lengthened, how often jobs are looked for, how soon retried."""

    lease: float = 30.0
    heartbeat: float = 3.0
    look_again: float = 2.0
    schedule: float = 60.0
    first_retry: float = 2.0
    longest_retry: float = 600.0

    def retry_in(self, attempts: int) -> timedelta:
        """Longer each time, and never the same for two jobs."""
        pause = min(self.longest_retry, self.first_retry * 2.0 ** (attempts - 1))
        return timedelta(seconds=pause * random.uniform(0.5, 1.5))  # noqa: S311 - no secret


@dataclass(eq=False, slots=True)
class Worker:
    """Carries out up to ``at_once`` jobs at the same time. One that it holds when it is stopped is given back.

    No job runs twice at once: a lease that cannot be lengthened any more ends the work before it runs out.
    """

    at_once: int
    tasks: Mapping[str, Task] = field(default_factory=lambda: TASKS)
    pace: Pace = field(default_factory=Pace)
    _looking: asyncio.Task[None] | None = None
    _owing: asyncio.Task[None] | None = None
    _running: dict[asyncio.Task[None], _Held] = field(default_factory=dict)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _stopped: bool = False

    def start(self, parts: Parts) -> None:
        """The first look comes after a pause: a process that is there for one call does not begin anything."""
        if self.at_once:
            self._looking = asyncio.create_task(self._look(parts), name="rememberd-worker")
            self._owing = asyncio.create_task(self._owe(parts), name="rememberd-schedule")

    async def stop(self) -> None:
        """A claim under way is waited for, or nobody would know of it until its lease ran out."""
        if self._looking is None or self._owing is None:
            return
        self._stopped = True
        self._wake.set()
        self._owing.cancel()
        await asyncio.wait({self._looking}, timeout=_PATIENCE)
        held = dict(self._running)
        for task in (self._looking, *held):
            task.cancel()
        await asyncio.gather(self._looking, self._owing, *held, return_exceptions=True)
        for job in held.values():
            await job.give_back()

    async def _owe(self, parts: Parts) -> None:
        await asyncio.sleep(self.pace.look_again)
        while True:
            try:
                await owe_what_is_due(parts)
            except RememberdError as failure:
                _log("schedule_failed", failure)
            await asyncio.sleep(self.pace.schedule)

    async def _look(self, parts: Parts) -> None:
        while not self._stopped:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.pace.look_again):
                    await self._wake.wait()
            self._wake.clear()
            try:
                while self._has_room and (job := await self._claim(parts)) is not None:
                    self._begin(parts, job)
            except RememberdError as failure:
                _log("claim_failed", failure)

    @property
    def _has_room(self) -> bool:
        return not self._stopped and len(self._running) < self.at_once

    async def _claim(self, parts: Parts) -> Job | None:
        """A look comes first: where nothing is owed, nothing is written."""
        owed = await parts.storage.jobs.count()
        if not owed.get("waiting") and not owed.get("running"):
            return None
        claim = Claim(
            lease=secrets.token_hex(8), now=parts.clock(), lease_for=timedelta(seconds=self.pace.lease),
            tasks=tuple(self.tasks),
        )  # fmt: skip
        return await parts.storage.write(claim)

    def _begin(self, parts: Parts, job: Job) -> None:
        held = _Held(parts, job, self.pace)
        running = asyncio.create_task(held.carry_out(self.tasks[job.task]), name=f"rememberd-job-{job.task}")
        self._running[running] = held
        running.add_done_callback(self._end)

    def _end(self, running: asyncio.Task[None]) -> None:
        del self._running[running]
        self._wake.set()


@dataclass(frozen=True, slots=True)
class _Held:
    """A job under this worker's lease."""

    parts: Parts
    job: Job
    pace: Pace

    @property
    def lease(self) -> str:
        assert self.job.lease is not None
        return self.job.lease

    async def carry_out(self, task: Task) -> None:
        work = asyncio.ensure_future(task.run(self.parts, self.job))
        beating = asyncio.create_task(self._keep_lease(work))
        try:
            with telemetry.timed("job"):
                await asyncio.wait({work})
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise
        finally:
            beating.cancel()
        try:
            await self._tell(work)
        except RememberdError as failure:  # the lease runs out, and the job is done once more
            _log("job_not_ended", failure, job=self.job.id)

    async def give_back(self) -> None:
        """Nothing happens if the job has ended; if the storage is out of reach, the lease runs out."""
        with suppress(RememberdError):
            await self.parts.storage.write(Release(id=self.job.id, lease=self.lease))

    async def _tell(self, work: asyncio.Future[None]) -> None:
        job = self.job
        if work.cancelled():
            telemetry.log("job_let_go", job=job.id, task=job.task)
            return
        failure = work.exception()
        if failure is None:
            await self.parts.storage.write(Finish(id=job.id, lease=self.lease))
            telemetry.count("jobs_done")
            return
        telemetry.count("jobs_failed")
        _log("job_failed", failure, job=job.id, task=job.task, attempt=job.attempts)
        retry_at = self.parts.clock() + self.pace.retry_in(job.attempts)
        error = f"{getattr(failure, 'code', type(failure).__name__)}: {failure}"
        await self.parts.storage.write(Fail(id=job.id, lease=self.lease, error=error, retry_at=retry_at))

    async def _keep_lease(self, work: asyncio.Future[None]) -> None:
        """Lengthen the lease; end the work when it is lost, or cannot be lengthened in time."""
        until = time.monotonic() + self.pace.lease
        held = True
        while held and time.monotonic() + 2 * self.pace.heartbeat < until:
            await asyncio.sleep(self.pace.heartbeat)
            begun, later = time.monotonic(), self.parts.clock() + timedelta(seconds=self.pace.lease)
            try:
                async with asyncio.timeout(max(0.0, until - self.pace.heartbeat - begun)):
                    held = await self.parts.storage.write(Heartbeat(id=self.job.id, lease=self.lease, until=later))
                until = begun + self.pace.lease
            except (RememberdError, TimeoutError):
                continue
        work.cancel()


def _log(event: str, failure: BaseException, **fields: object) -> None:
    code = getattr(failure, "code", type(failure).__name__)
    telemetry.log(event, level=logging.WARNING, error=code, **fields)
