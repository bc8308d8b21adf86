"""Changing the model under load while the process is killed again and again: ``python -m bench.reembed``.

A worker owns the folder, writes, queries, and re-embeds; whoever started it kills it with SIGKILL, starts the next, and
looks at the store in the end. The vectors of the test embedder mean nothing, so a question that is word for word a
message has cosine 1 with it in its own space, and chance in any other: a mix, or a gap, would be seen in any query.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from rememberd import wiring
from rememberd.memory import Memory
from rememberd.providers.embed import TestEmbedder
from rememberd.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

OLD, NEW = "test-1", "test-2"
_THREAD = 100  # messages
_ALL = 0.5  # what the vector part of a score is at cosine 1


def text(number: int) -> str:
    return f"Message {number} says that parcel {number * 7919 % 100_003} waits at gate {number % 97}."


@dataclass(frozen=True)
class Seen:
    """What came of it: how often it was killed on the way, and what the workers saw."""

    kills: int
    queries: int
    faults: tuple[str, ...]
    messages: int
    embedded: int
    states: Mapping[str, str]


async def _open(folder: Path, model: str) -> Memory:
    chosen = {"models.embedder": "test", "models.name": model, "tokens.encoding": "estimate"}
    settings = load_settings(environment={}, dotenv=None, given=chosen)
    return Memory((await wiring.open_folder(folder, settings)).engine)


async def fill(folder: Path, messages: int, model: str = OLD) -> None:
    """A store whose every message has its vector."""
    memory = await _open(folder, model)
    for first in range(0, messages, _THREAD):
        thread = memory.of(user="lin", thread=f"t{first}")
        await thread.ingest([text(number) for number in range(first, min(first + _THREAD, messages))])
    assert (await memory.settle(600)).settled
    await memory.close()


async def work(folder: Path, model: str, messages: int, pace: float) -> None:
    """Write, query and re-embed until the new model serves; tell on stdout what was seen."""
    embed = TestEmbedder.embed

    async def slowly(self: TestEmbedder, texts: Sequence[str]) -> list[bytes]:
        await asyncio.sleep(pace * len(texts))
        return await embed(self, texts)

    with patch.object(TestEmbedder, "embed", slowly):
        memory = await _open(folder, model)
        lin, chance = memory.of(user="lin"), random.Random()
        load = asyncio.create_task(_write(memory))
        while True:
            fault = await _fault(lin, chance.randrange(messages))
            coming = [lane for lane in await memory.operate.lanes() if lane.state == "coming"]
            _tell(fault=fault, owed=coming[0].owed if coming else 0)
            if not coming:
                break
            await asyncio.sleep(0.005)
        load.cancel()
        _tell(settled=(await memory.settle(600)).settled)
        for _ in range(20):
            _tell(fault=await _fault(lin, chance.randrange(messages)))
        await memory.close()
    _tell(whole=True)


async def _write(memory: Memory) -> None:
    """The load: somebody else talks all the time."""
    for number in range(1_000_000):
        await memory.of(user="ada", thread=f"load-{time.time_ns()}").ingest([f"Load {number}, {time.time_ns()}."] * 3)
        await asyncio.sleep(0.1)


async def _fault(lin: Any, number: int) -> str | None:
    context = await lin.query(text(number), k=3, floor=0.0)
    nearest = {hit.text: hit.parts["vector"] for hit in context.raw}.get(text(number))
    if nearest is None or abs(nearest - _ALL) > 0.005:
        return f"message {number} was near by {nearest}; {context.degraded}"
    return None


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def change_under_fire(folder: Path, messages: int, kills: int, pace: float) -> Seen:
    """Change the model of a filled store, killing whoever works at it; the kills are spread over the work."""
    asyncio.run(fill(folder, messages))
    faults: list[str] = []
    queries = killed = 0
    whole = False
    while not whole:
        doomed_below = messages * (1 - (killed + 1) / (kills + 2)) if killed < kills else -1
        arguments = [str(folder), "--work", NEW, "--messages", str(messages), "--pace", str(pace)]
        worker = subprocess.Popen(
            [sys.executable, "-m", "bench.reembed", *arguments], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        for line in worker.stdout:
            told = json.loads(line)
            queries += "fault" in told
            faults += [told["fault"]] if told.get("fault") else []
            whole = whole or told.get("whole", False)
            if 0 < told.get("owed", 0) < doomed_below:
                worker.kill()
                killed += 1
                break
        worker.stdout.close()
        assert worker.wait(60) == (0 if whole else -9)
    return asyncio.run(_look(folder, killed, queries, tuple(faults)))


async def _look(folder: Path, kills: int, queries: int, faults: tuple[str, ...]) -> Seen:
    memory = await _open(folder, NEW)
    storage = memory.engine._parts.storage  # type: ignore[attr-defined]
    changes = await storage.feed.read(0, 10_000_000)
    put = {change.id for change in changes if change.operation == "put"}
    vectors = await storage.vectors.get("default", list(put))
    states = {f"{lane.lane}/{lane.model}": lane.state for lane in await memory.operate.lanes()}
    await memory.close()
    embedded = {vector.id for vector in vectors if vector.model == NEW}
    return Seen(kills, queries, faults, len(put), len(put & embedded), states)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folder", nargs="?")
    options.add_argument("--work")
    options.add_argument("--messages", type=int, default=20_000)
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--pace", type=float, default=0.002)
    asked = options.parse_args()
    if asked.work:
        asyncio.run(work(Path(asked.folder), asked.work, asked.messages, asked.pace))
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        seen = change_under_fire(Path(folder) / "memory", asked.messages, asked.kills, asked.pace)
    print(f"{seen.messages:,} messages, {seen.embedded:,} embedded anew; killed {seen.kills} times; ", end="")
    print(f"{seen.queries:,} queries, {len(seen.faults)} saw a mix or a gap; {time.monotonic() - began:.0f} s")
    for fault in seen.faults[:10]:
        print(fault)
    sys.exit(bool(seen.faults or seen.embedded < seen.messages or seen.kills < asked.kills))


if __name__ == "__main__":
    main()
