"""The same on a real PostgreSQL: killed under load, paused, and back again."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from rememberd import wiring
from rememberd.errors import StorageUnavailable
from rememberd.memory import Memory
from rememberd.server import Gate, create_app
from tests.conftest import plain_settings

from .servers import OwnPostgreSQL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from rememberd.model import Receipts

pytestmark = [pytest.mark.integration, pytest.mark.alone]

TIMEOUT = 1.0


@pytest.fixture(scope="module")
def server() -> Iterator[OwnPostgreSQL]:
    made = OwnPostgreSQL()
    yield made
    made.stop()


@pytest.fixture
def url(server: OwnPostgreSQL) -> str:
    return server.fresh_database()


async def _open(url: str, folder: Path, **settings: Any) -> wiring.Opened:
    given = {
        "data__folder": str(folder),
        "database__timeout": TIMEOUT,
        "failure_queue__first_pause": 0.1,
        "failure_queue__longest_pause": 0.5,
        **settings,
    }
    return await wiring.open_server(url, plain_settings(**given))


async def _drained(opened: wiring.Opened, patience: float = 60.0) -> None:
    async with asyncio.timeout(patience):
        while opened.engine._parts.spool.usage().waiting:
            await asyncio.sleep(0.02)


async def _history(memory: Memory, thread: str) -> list[str]:
    handle, contents, after = memory.of(user="lin", thread=thread), list[str](), None
    while True:
        page = await handle.history(order="oldest", limit=1000, after=after)
        contents += [message.content for message in page.items]
        if (after := page.next) is None:
            return contents


async def _write_until(memory: Memory, thread: str, stop: asyncio.Event, sent: dict[str, str]) -> None:
    """One client: it sends one message after the other, and notes what was acknowledged."""
    while not stop.is_set():
        text = f"{thread} {len(sent)}"
        receipts: Receipts = await memory.of(user="lin", thread=thread).ingest(text)
        sent[text] = receipts.receipts[0].status
        await asyncio.sleep(0.002)


async def _all_are(sent: dict[str, dict[str, str]], status: str) -> None:
    """Wait until the last message of every client was answered so: a busy thread, too, gets back to the storage."""
    async with asyncio.timeout(60):
        while not all(texts and texts[next(reversed(texts))] == status for texts in sent.values()):
            await asyncio.sleep(0.01)


async def kill_under_load(server: OwnPostgreSQL, url: str, folder: Path, cycles: int) -> None:
    opened = await _open(url, folder)
    memory = Memory(opened.engine)
    stop, sent = asyncio.Event(), {f"t-{i}": dict[str, str]() for i in range(4)}
    clients = [asyncio.create_task(_write_until(memory, thread, stop, texts)) for thread, texts in sent.items()]
    for _ in range(cycles):
        await _all_are(sent, "recorded")
        server.kill()
        await _all_are(sent, "spooled")
        await asyncio.to_thread(server.start)
    await _all_are(sent, "recorded")
    stop.set()
    await asyncio.gather(*clients)
    await _drained(opened)
    for thread, texts in sent.items():
        assert await _history(memory, thread) == list(texts)
    assert opened.engine._parts.spool.usage().dead == 0
    await memory.close()


def test_a_server_killed_under_load_loses_nothing(server: OwnPostgreSQL, url: str, tmp_path: Path) -> None:
    asyncio.run(kill_under_load(server, url, tmp_path, cycles=2))


def test_what_waits_is_taken_over_by_the_next_process(server: OwnPostgreSQL, url: str, tmp_path: Path) -> None:
    async def crash_and_take_over() -> None:
        first, second = await _open(url, tmp_path), await _open(url, tmp_path)
        with server.paused():
            for i, opened in enumerate((first, second)):
                await Memory(opened.engine).of(user="lin", thread=f"t-{i}").ingest(f"from {i}")
            for opened in (first, second):
                await opened.engine.close()
        third = await _open(url, tmp_path)
        await _drained(third)
        memory = Memory(third.engine)
        assert [await _history(memory, f"t-{i}") for i in range(2)] == [["from 0"], ["from 1"]]
        await memory.close()

    asyncio.run(crash_and_take_over())


async def _seconds(call: Callable[[], Awaitable[Any]]) -> float:
    began = time.monotonic()
    with suppress(StorageUnavailable):
        await call()
    return time.monotonic() - began


def test_a_server_that_answers_nobody_holds_no_call_up_beyond_its_time_out(
    server: OwnPostgreSQL, url: str, tmp_path: Path
) -> None:
    async def pause() -> None:
        opened = await _open(url, tmp_path)
        memory = Memory(opened.engine)
        lin = memory.of(user="lin", thread="t")
        await lin.ingest("before")

        async def turn() -> None:
            async with lin.turn("anybody there?") as turn:
                assert turn.context.degraded
                await turn.reply("me")

        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: lin.query("before"),
            lambda: lin.ingest("meanwhile"),
            turn,
            lin.window,
            lin.history,
            lambda: lin.add("likes tea"),
            opened.engine.ready,
        ]
        with server.paused():
            took = [await _seconds(call) for call in calls for _ in range(3)]
            took += await asyncio.gather(*(_seconds(call) for call in calls for _ in range(5)))
            ready = await opened.engine.ready()
        assert "wait in the spool" in ready[0]
        assert max(took) < TIMEOUT + 1.0  # a busy machine may be late
        assert sorted(took)[len(took) * 9 // 10] < TIMEOUT + 0.1
        await _drained(opened)
        assert (await _history(memory, "t"))[:2] == ["before", "meanwhile"]
        assert await opened.engine.ready() == ()
        await memory.close()

    asyncio.run(pause())


def test_health_is_told_while_the_server_answers_nobody(server: OwnPostgreSQL, url: str, tmp_path: Path) -> None:
    async def ask() -> None:
        opened = await _open(url, tmp_path)
        app = create_app(opened.engine, gate=Gate(keyless=True))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as http:
            with server.paused():
                body = {"user": "lin", "thread": "t", "messages": [{"role": "user", "content": "hello"}]}
                busy = [asyncio.create_task(http.post("/v1/ingest", json=body)) for _ in range(10)]
                took = []
                for _ in range(30):
                    began = time.monotonic()
                    assert (await http.get("/healthz")).status_code == 200
                    took.append(time.monotonic() - began)
                    await asyncio.sleep(0.02)
                answers = await asyncio.gather(*busy)
                assert {answer.status_code for answer in answers} == {202}
                readiness = (await http.get("/readyz")).json()
                assert readiness["status"] == "degraded"
            assert sorted(took)[len(took) * 9 // 10] < 0.1
            await _drained(opened)
            assert (await http.get("/readyz")).json()["status"] == "ok"
        await opened.engine.close()

    asyncio.run(ask())
