"""A PostgreSQL that is killed and started again, while clients talk to a memory whose storage it is."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rememberd import wiring
from rememberd.memory import Memory
from rememberd.prove.verdict import NUMBER, Acknowledged, Row, judge
from tests.conftest import plain_settings

if TYPE_CHECKING:
    from pathlib import Path

    from rememberd.model import Message

    from .servers import OwnPostgreSQL

TIMEOUT = 1.0
_CLIENTS = 4
_PATIENCE = 60.0


async def open_beside(url: str, folder: Path, **settings: Any) -> wiring.Opened:
    """A memory on a server that is waited for no longer than a second."""
    given = {
        "data__folder": str(folder),
        "database__timeout": TIMEOUT,
        "failure_queue__first_pause": 0.1,
        "failure_queue__longest_pause": 0.5,
        **settings,
    }
    return await wiring.open_server(url, plain_settings(**given))


async def drained(opened: wiring.Opened) -> None:
    """Wait until nothing waits."""
    async with asyncio.timeout(_PATIENCE):
        while opened.engine._parts.spool.usage().waiting:
            await asyncio.sleep(0.02)


async def record_of(memory: Memory, thread: str) -> list[Message]:
    """A whole thread, oldest message first."""
    handle, messages, after = memory.of(user="lin", thread=thread), list["Message"](), None
    while True:
        page = await handle.history(order="oldest", limit=1000, after=after)
        messages += page.items
        if (after := page.next) is None:
            return messages


@dataclass(slots=True)
class _Client:
    """It sends one message after the other, and notes what was acknowledged, and how the last one was."""

    thread: str
    acknowledged: list[Acknowledged] = field(default_factory=list)
    status: str = ""

    async def talk(self, memory: Memory, stop: asyncio.Event) -> None:
        handle = memory.of(user="lin", thread=self.thread)
        while not stop.is_set():
            number = len(self.acknowledged)
            content = f"{self.thread} {number}"
            said = {"role": "user", "content": content, "metadata": {NUMBER: str(number + 1)}}
            receipt = (await handle.ingest(said)).receipts[0]
            self.acknowledged.append(Acknowledged(self.thread, receipt.id, receipt.seq, content))
            self.status = receipt.status
            await asyncio.sleep(0.002)


async def _all_are(clients: list[_Client], status: str) -> None:
    """Wait until every client was answered so: a busy thread, too, gets back to the storage."""
    async with asyncio.timeout(_PATIENCE):
        while any(client.status != status for client in clients):
            await asyncio.sleep(0.01)


async def kill_under_load(server: OwnPostgreSQL, url: str, folder: Path, cycles: int) -> Row:
    """``ready_again`` is the longest time from the server's start until everybody's messages are recorded again."""
    opened = await open_beside(url, folder)
    memory = Memory(opened.engine)
    clients, stop, took = [_Client(f"t-{i}") for i in range(_CLIENTS)], asyncio.Event(), list[float]()
    async with asyncio.TaskGroup() as talking:  # a client that fails ends all of it
        for client in clients:
            talking.create_task(client.talk(memory, stop))
        await _all_are(clients, "recorded")
        for _ in range(cycles):
            server.kill()
            await _all_are(clients, "spooled")
            began = time.monotonic()
            await asyncio.to_thread(server.start)
            await _all_are(clients, "recorded")
            took.append(time.monotonic() - began)
        stop.set()
    await drained(opened)
    acknowledged = [one for client in clients for one in client.acknowledged]
    verdict = judge(acknowledged, {client.thread: await record_of(memory, client.thread) for client in clients})
    dead = opened.engine._parts.spool.usage().dead
    await memory.close()
    return Row(
        fault="PostgreSQL killed with -9",
        tries=cycles,
        acknowledged=len(acknowledged),
        lost=verdict.lost,
        duplicated=verdict.duplicated,
        disordered=verdict.disordered,
        failures=(f"{dead} dead letters",) if dead else (),
        ready_again=max(took),
    )
