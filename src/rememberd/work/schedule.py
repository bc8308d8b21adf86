"""Work that comes round again: owed once per span of time, however many processes look."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rememberd.model import Job
from rememberd.operate.operations import WHOLE_STORE
from rememberd.ports.jobs import Enqueue

if TYPE_CHECKING:
    from rememberd.ports.parts import Parts

_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MANY = 100  # jobs that ended, before it is worth to tidy them away


async def owe_what_is_due(parts: Parts) -> None:
    """Owe the backup and the tidying of the present span of time, unless they were owed already."""
    rule = parts.policy.backup
    if rule.every and parts.backup_folder is not None:
        await _owe(parts, "backup", rule.every)
    counts = await parts.storage.jobs.count()
    if counts.get("done", 0) + counts.get("cancelled", 0) >= _MANY:
        await _owe(parts, "tidy", _DAY)


async def _owe(parts: Parts, task: str, every: timedelta) -> None:
    now = parts.clock()
    job_id = f"{task}-{now - (now - _EPOCH) % every:%Y%m%dT%H%M%S}"
    if await parts.storage.jobs.get(job_id) is None:
        job = Job(id=job_id, tenant=WHOLE_STORE, task=task, due_at=now, created_at=now)
        await parts.storage.write(Enqueue(job=job))
