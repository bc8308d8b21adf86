"""Jobs: carried out once, tried again, given back, taken over after a crash, fair between tenants."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from rememberd import wiring
from rememberd.errors import SettingsError, StorageFull, StorageUnavailable
from rememberd.model import Job
from rememberd.ports.jobs import Claim, Enqueue
from rememberd.work.tasks import TASKS, Task
from rememberd.work.worker import Pace, Worker
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rememberd.ports.parts import Parts

QUICK = Pace(lease=30, heartbeat=0.02, look_again=0.02, schedule=0.02, first_retry=1, longest_retry=4)


@dataclass
class Trial:
    """A task of the test's own, which notes what happens; ``act`` is what it does."""

    store: Store
    act: Callable[[Job], Awaitable[None]]
    name: str = "trial"
    begun: list[str] = field(default_factory=list)
    under_way: set[str] = field(default_factory=set)

    async def _run(self, parts: Parts, job: Job) -> None:
        assert job.id not in self.under_way, "a job ran twice at once"
        self.begun.append(job.id)
        self.under_way.add(job.id)
        try:
            await self.act(job)
        finally:
            self.under_way.discard(job.id)

    @asynccontextmanager
    async def worker(self, at_once: int = 1, pace: Pace = QUICK, parts: Parts | None = None) -> AsyncIterator[Worker]:
        worker = Worker(at_once, {self.name: Task("tried", self._run)}, pace)
        worker.start(parts or self.store.parts)
        try:
            yield worker
        finally:
            await worker.stop()

    async def owe(self, job_id: str, tenant: str = "acme", max_attempts: int = 5) -> None:
        now = self.store.clock()
        job = Job(
            id=job_id, tenant=tenant, task=self.name, due_at=now, created_at=now, max_attempts=max_attempts
        )  # fmt: skip
        await self.store.parts.storage.write(Enqueue(job=job))

    async def job(self, job_id: str) -> Job:
        return await self.store.memory.operate.job(job_id)

    async def until(self, job_id: str, state: str, attempts: int = 0) -> Job:
        async with asyncio.timeout(10):
            while (job := await self.job(job_id)).state != state or job.attempts < attempts:
                await asyncio.sleep(0.005)
        return job


async def _nothing(job: Job) -> None: ...


async def _forever(job: Job) -> None:
    await asyncio.Event().wait()


async def _fail(job: Job) -> None:
    raise StorageFull("the disk is full")


def test_a_job_is_carried_out_once(store: Store) -> None:
    trial = Trial(store, _nothing)

    async def live() -> None:
        await trial.owe("a")
        async with trial.worker():
            done = await trial.until("a", "done")
            await asyncio.sleep(0.1)
        assert (done.attempts, done.lease, done.error) == (1, None, None)

    store.run(live())
    assert trial.begun == ["a"]


def test_a_job_that_fails_waits_longer_each_time_and_dies_with_its_error(store: Store) -> None:
    trial = Trial(store, _fail)

    async def live() -> None:
        await trial.owe("a", max_attempts=3)
        pauses = []
        async with trial.worker():
            for attempt in (1, 2):
                job = await trial.until("a", "waiting", attempt)
                pauses.append((job.due_at - store.clock()).total_seconds())
                assert job.error == "storage_full: the disk is full"
                await asyncio.sleep(0.05)
                assert len(trial.begun) == attempt, "it was tried before it was due"
                store.clock.forward(seconds=10)
            dead = await trial.until("a", "dead")
        assert (dead.attempts, dead.error) == (3, "storage_full: the disk is full")
        assert 0.5 <= pauses[0] <= 1.5
        assert 1.0 <= pauses[1] <= 3.0
        assert [job.id for job in await store.memory.operate.jobs("dead")] == ["a"]
        trial.act = _nothing
        assert (await store.memory.operate.retry_job("a")).state == "waiting"
        async with trial.worker():
            await trial.until("a", "done")

    store.run(live())


def test_pauses_are_never_the_same() -> None:
    assert len({QUICK.retry_in(3) for _ in range(20)}) == 20
    assert QUICK.retry_in(1000) <= timedelta(seconds=6)


def test_an_error_that_nobody_foresaw_is_kept_too(folder_store: Store) -> None:
    async def stumble(job: Job) -> None:
        raise ZeroDivisionError("by zero")

    trial = Trial(folder_store, stumble)

    async def live() -> None:
        await trial.owe("a", max_attempts=1)
        async with trial.worker():
            assert (await trial.until("a", "dead")).error == "ZeroDivisionError: by zero"

    folder_store.run(live())


def test_a_running_job_can_be_cancelled(store: Store) -> None:
    trial = Trial(store, _forever)

    async def live() -> None:
        await trial.owe("a")
        async with trial.worker():
            await trial.until("a", "running")
            assert (await store.memory.operate.cancel_job("a")).state == "cancelled"
            async with asyncio.timeout(5):
                while trial.under_way:
                    await asyncio.sleep(0.01)
        assert (await trial.job("a")).state == "cancelled"

    store.run(live())


def test_a_worker_that_is_stopped_gives_back_what_it_holds(store: Store) -> None:
    trial = Trial(store, _forever)

    async def live() -> None:
        await trial.owe("a")
        for _ in range(7):  # more often than a job may be tried
            async with trial.worker():
                await trial.until("a", "running")
            assert ((await trial.job("a")).state, (await trial.job("a")).attempts) == ("waiting", 0)
        trial.act = _nothing
        async with trial.worker():
            await trial.until("a", "done")

    store.run(live())


def test_what_a_dead_worker_held_is_taken_over_when_its_lease_has_run_out(store: Store) -> None:
    trial = Trial(store, _nothing)

    async def live() -> None:
        await trial.owe("a")
        lease = timedelta(seconds=30)
        claim = Claim(lease="of one that crashed", now=store.clock(), lease_for=lease, tasks=("trial",))
        assert await store.parts.storage.write(claim) is not None
        async with trial.worker():
            await asyncio.sleep(0.1)
            assert trial.begun == []
            store.clock.forward(seconds=31)
            assert (await trial.until("a", "done")).attempts == 2

    store.run(live())


def test_a_lease_that_is_lost_ends_the_work(store: Store) -> None:
    """Somebody's clock went ahead, and another worker took the job over."""
    trial = Trial(store, _forever)

    async def live() -> None:
        await trial.owe("a")
        async with trial.worker(pace=Pace(lease=30, heartbeat=0.1, look_again=0.02)):
            await trial.until("a", "running")
            later = store.clock() + timedelta(seconds=61)
            claim = Claim(lease="other", now=later, lease_for=timedelta(seconds=30), tasks=("trial",))
            assert await store.parts.storage.write(claim) is not None
            async with asyncio.timeout(5):
                while trial.under_way:
                    await asyncio.sleep(0.01)
            assert (await trial.job("a")).lease == "other"

    store.run(live())


@pytest.mark.alone
def test_a_lease_that_cannot_be_lengthened_ends_the_work_before_it_runs_out(
    folder_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(folder_store, _forever)

    async def refuse(*_: object) -> None:
        raise StorageUnavailable("not now")

    async def live() -> float:
        await trial.owe("a")
        async with trial.worker(pace=Pace(lease=1.0, heartbeat=0.1, look_again=0.02)):
            await trial.until("a", "running")
            began = asyncio.get_running_loop().time()
            with monkeypatch.context() as patched:
                patched.setattr(folder_store.parts.storage, "write", refuse)
                while trial.under_way:
                    await asyncio.sleep(0.01)
                return asyncio.get_running_loop().time() - began

    assert folder_store.run(live()) < 1.0


@pytest.mark.alone
def test_a_long_job_keeps_its_lease(store: Store) -> None:
    async def take_long(job: Job) -> None:
        for _ in range(10):
            await asyncio.sleep(0.05)
            store.clock.forward(seconds=5)

    trial = Trial(store, take_long)

    async def live() -> None:
        await trial.owe("a")
        async with trial.worker(), trial.worker():
            done = await trial.until("a", "done")
        assert done.attempts == 1

    store.run(live())
    assert trial.begun == ["a"]


def test_several_workers_do_each_job_once_and_never_two_at_once(store: Store) -> None:
    """On PostgreSQL the second worker has connections of its own, as in another process."""

    async def a_little(job: Job) -> None:
        await asyncio.sleep(0.01)

    trial = Trial(store, a_little)
    jobs = [f"job-{i}" for i in range(40)]

    async def live() -> None:
        other = await wiring.open_server(store.url, store.settings, clock=store.clock) if _on_server(store) else None
        for job in jobs:
            await trial.owe(job)
        async with trial.worker(3), trial.worker(3, parts=other.engine._parts if other else None):
            for job in jobs:
                assert (await trial.until(job, "done")).attempts == 1
        if other is not None:
            await other.engine.close()

    store.run(live())
    assert sorted(trial.begun) == sorted(jobs)


def _on_server(store: Store) -> bool:
    return store.kind == "postgresql"


def test_a_tenant_with_many_jobs_does_not_keep_others_waiting(store: Store) -> None:
    trial = Trial(store, _forever)

    async def live() -> None:
        for i in range(10):
            await trial.owe(f"many-{i}", tenant="acme")
            store.clock.forward(seconds=1)
        await trial.owe("few", tenant="globex")
        async with trial.worker(2), asyncio.timeout(5):
            while len(trial.begun) < 2:
                await asyncio.sleep(0.01)

    store.run(live())
    assert trial.begun == ["many-0", "few"]


def test_a_process_that_is_to_do_none_does_none(tmp_path: Path) -> None:
    store = Store("folder", tmp_path / "memory", plain_settings(jobs__at_once=0))
    trial = Trial(store, _nothing, name="tidy")

    async def live() -> None:
        await trial.owe("a")
        await asyncio.sleep(0.1)
        async with trial.worker(at_once=0):
            await asyncio.sleep(0.1)
        assert (await trial.job("a")).state == "waiting"

    store.run(live())
    store.close()


# The tasks there are.


def _backups(store: Store) -> list[str]:
    return sorted(path.name for path in (store.folder / "backups").glob("*.zip"))


@pytest.fixture
def keeping(tmp_path: Path) -> Store:
    """A folder that is backed up daily, and of which two backups are kept."""
    return Store("folder", tmp_path / "memory", plain_settings(backup__every=24, backup__keep=2))


def test_a_folder_is_backed_up_as_often_as_the_settings_say(keeping: Store, tmp_path: Path) -> None:
    async def live() -> None:
        await keeping.memory.of(user="lin", thread="t").ingest("我对酒精过敏")
        worker = Worker(1, TASKS, QUICK)
        worker.start(keeping.parts)
        seen = set()
        for day in range(15, 19):
            async with asyncio.timeout(10):
                while (
                    (jobs := (await keeping.memory.operate.stats()).jobs).waiting
                    or jobs.running  # or its lease would run out when the clock goes on
                    or not any(f"202611{day}" in name for name in _backups(keeping))
                ):
                    await asyncio.sleep(0.01)
            seen |= set(_backups(keeping))
            keeping.clock.forward(days=1)
        await worker.stop()
        assert len(seen) == 4, "one a day"

    keeping.run(live())
    assert _backups(keeping) == ["scheduled-20261117T080000.zip", "scheduled-20261118T080000.zip"]
    keeping.close()

    async def restore() -> None:
        async for _ in wiring.restore_folder(
            keeping.folder / "backups" / _backups(keeping)[-1], tmp_path / "elsewhere"
        ):
            pass

    asyncio.run(restore())
    store = Store("folder", tmp_path / "elsewhere", plain_settings())
    assert store.run(store.memory.of(user="lin").history()).items[0].content == "我对酒精过敏"
    store.close()


@pytest.mark.parametrize("task", TASKS)
def test_doing_a_job_twice_is_harmless(keeping: Store, task: str) -> None:
    async def twice() -> None:
        now = keeping.clock()
        job = Job(id="a", tenant="*", task=task, due_at=now, created_at=now)
        await keeping.parts.storage.write(Enqueue(job=job))
        await TASKS[task].run(keeping.parts, job)
        once = (_backups(keeping), await keeping.parts.storage.jobs.list(None, 10))
        await TASKS[task].run(keeping.parts, job)
        assert once == (_backups(keeping), await keeping.parts.storage.jobs.list(None, 10))

    keeping.run(twice())
    keeping.close()


def test_jobs_that_ended_long_ago_are_tidied_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rememberd.work.schedule._MANY", 5)
    trial = Trial(store, _nothing)

    async def live() -> None:
        for i in range(5):
            await trial.owe(f"old-{i}")
            await store.memory.operate.cancel_job(f"old-{i}")
        store.clock.forward(days=31)
        await trial.owe("fresh")
        worker = Worker(1, TASKS, QUICK)
        worker.start(store.parts)
        async with asyncio.timeout(10):
            while len(await store.memory.operate.jobs()) > 2:
                await asyncio.sleep(0.02)
        await worker.stop()
        assert {job.task for job in await store.memory.operate.jobs()} == {"trial", "tidy"}

    store.run(live())


def test_a_store_on_a_server_cannot_be_told_to_back_itself_up() -> None:
    with pytest.raises(SettingsError, match="pg_dump"):
        asyncio.run(wiring.open_server("postgresql://nowhere/none", plain_settings(backup__every=1)))
