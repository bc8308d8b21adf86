"""Keeps a small folder of today's format: ``python -m tests.formats.make`` writes ``format-N.zip``, a backup of it.

Run it before a migration is added: every format that a release wrote stays here.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from rememberd import wiring
from rememberd.backends.sql.migrate import migrations
from rememberd.memory import Memory
from rememberd.model import Job
from rememberd.ports.jobs import Enqueue
from rememberd.settings import load_settings

HERE = Path(__file__).parent
AT = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)
PLAIN = {"models.embedder": "test", "tokens.encoding": "estimate"}
SAID = ("我对酒精过敏", "Noted: no alcohol.", "那推荐一款面霜吧")


def kept() -> list[Path]:
    """The kept folders, the oldest format first."""
    return sorted(HERE.glob("format-*.zip"))


async def fill(memory: Memory) -> None:
    """A little of everything that a store holds."""
    lin = memory.of(tenant="acme", user="lin", thread="t-1")
    await lin.ingest([SAID[0], {"role": "agent", "content": SAID[1]}], idempotency_key="k")
    item = await lin.add("prefers unscented products", kind="preference", importance=0.9)
    await lin.revise(item.id, text="prefers unscented, vegan products")
    async with lin.turn(SAID[2]):
        pass
    await memory.of(tenant="globex", user="mei", thread="t-1").ingest("hello from elsewhere")
    await memory.settle()


async def make() -> Path:
    numbers = itertools.count(1)
    settings = load_settings(environment={}, dotenv=None, given=PLAIN)
    with tempfile.TemporaryDirectory() as folder:
        opened = await wiring.open_folder(
            folder, settings, clock=lambda: AT, ids=lambda: f"00000000-0000-7000-8000-{next(numbers):012d}"
        )
        async with Memory(opened.engine) as memory:
            await fill(memory)
            job = Job(id="job-1", tenant="acme", task="something", due_at=AT, created_at=AT)
            await opened.engine._parts.storage.write(Enqueue(job=job))
            file = HERE / f"format-{len(migrations())}.zip"
            file.unlink(missing_ok=True)
            async for _ in memory.operate.backup(file):
                pass
    return file


if __name__ == "__main__":
    asyncio.run(make())
