"""rememberd jobs: what operators see of background work, and do about it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from rememberd import wiring
from rememberd.model import Job
from rememberd.ports.jobs import Claim, Enqueue, Fail
from tests.conftest import plain_settings

from .processes import Server

if TYPE_CHECKING:
    from .conftest import Shell

NOW = datetime(2026, 11, 15, tzinfo=UTC)


async def _fill(folder: str) -> None:
    opened = await wiring.open_folder(folder, plain_settings())
    storage = opened.engine._parts.storage
    for name, attempts in (("broken", 1), ("new", 5)):
        job = Job(id=name, tenant="acme", task="trial", due_at=NOW, created_at=NOW, max_attempts=attempts)
        await storage.write(Enqueue(job=job))
        if name == "broken":
            await storage.write(Claim(lease="x", now=NOW, lease_for=timedelta(seconds=9), tasks=("trial",)))
            await storage.write(Fail(id=name, lease="x", error="storage_full: no room", retry_at=NOW))
    await opened.engine.close()


@pytest.fixture
def jobs(shell: Shell) -> Shell:
    """A shell in whose folder one job is dead and one waits."""
    asyncio.run(_fill(str(shell.folder / "memory")))
    return shell


@pytest.mark.parametrize("served", [False, True])
def test_jobs_are_listed_shown_retried_and_cancelled(jobs: Shell, served: bool) -> None:
    server = Server(jobs.folder) if served else None
    try:
        assert [job["id"] for job in jobs.ask("jobs", "list")["items"]] == ["broken", "new"]
        assert [job["id"] for job in jobs.ask("jobs", "list", "--state", "dead")["items"]] == ["broken"]
        assert jobs.ask("jobs", "show", "broken")["error"] == "storage_full: no room"
        assert jobs.ask("jobs", "retry", "broken")["state"] == "waiting"
        assert jobs("jobs", "retry", "broken").code == 4
        assert jobs.ask("jobs", "cancel", "broken")["state"] == "cancelled"
        assert jobs("jobs", "cancel", "broken").code == 4
        assert jobs("jobs", "show", "nobody").code == 3
        assert jobs("jobs", "retry", "nobody").code == 3
        assert [entry["action"] for entry in _audit(jobs)][:2] == ["job.cancel", "job.retry"]
    finally:
        if server is not None:
            server.end()


def _audit(jobs: Shell) -> list[dict[str, str]]:
    from rememberd import blocking

    with blocking.connect(jobs.folder / "memory", settings=plain_settings()) as memory:
        wanted = [entry for entry in memory.operate.audit().items if entry.action.startswith("job.")]
    seen: list[dict[str, str]] = [{"action": entry.action} for entry in wanted]
    return [entry for i, entry in enumerate(seen) if i == 0 or seen[i - 1] != entry]


def test_people_see_jobs_as_tables(jobs: Shell) -> None:
    assert "1 of 1" in jobs("jobs", "list").out
    assert "storage_full: no room" in jobs("jobs", "show", "broken").out
    assert jobs("jobs", "retry", "broken").out == "broken is waiting again.\n"
    assert jobs("jobs", "cancel", "new").out == "new is cancelled.\n"


def test_the_doctor_sends_to_the_dead(jobs: Shell) -> None:
    finding = next(one for one in jobs.ask("doctor")["findings"] if one["check"] == "jobs")
    assert (finding["state"], finding["detail"]) == ("warning", "1 dead jobs")
    assert "rememberd jobs list --state dead" in finding["cure"]
