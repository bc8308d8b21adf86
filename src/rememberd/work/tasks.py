"""THE table of background work that is not a view: what each task of a job does. Doing a job twice is harmless."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from rememberd.errors import Unsupported, disk_failure
from rememberd.model import Job
from rememberd.operate.backup import keep
from rememberd.ports.jobs import ForgetJobs
from rememberd.ports.parts import Parts

Run: TypeAlias = Callable[[Parts, Job], Awaitable[None]]

#: How long a job that is done or cancelled is remembered.
REMEMBERED = timedelta(days=30)

_SCHEDULED = "scheduled-"


@dataclass(frozen=True, slots=True)
class Task:
    about: str
    run: Run


async def _back_up(parts: Parts, job: Job) -> None:
    """One file per job, however often it is tried; the oldest ones beyond those to be kept go."""
    folder = parts.backup_folder
    if folder is None:
        raise Unsupported("this store is not backed up from here")
    file = folder / f"{_SCHEDULED}{job.created_at:%Y%m%dT%H%M%S}.zip"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            async for _ in keep(parts.backups.pieces(), file):
                pass
        for old in sorted(folder.glob(f"{_SCHEDULED}*.zip"))[: -max(1, parts.policy.backup.keep)]:
            old.unlink(missing_ok=True)
    except OSError as error:
        raise disk_failure(error, f"{folder} cannot be written") from error


async def _tidy(parts: Parts, job: Job) -> None:
    await parts.storage.write(ForgetJobs(owed_before=job.created_at - REMEMBERED))


TASKS: dict[str, Task] = {
    "backup": Task("a backup of the folder, as often as `backup.every` says", _back_up),
    "tidy": Task("forgets jobs that ended more than 30 days ago", _tidy),
}
