"""The same on a real PostgreSQL: killed under load, paused, and back again."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import asyncpg
import httpx2
import pytest

from rememberd.errors import StorageUnavailable
from rememberd.memory import Memory
from rememberd.model import NewMessage, Query
from rememberd.server import Gate, create_app

from .killed import TIMEOUT, drained, kill_under_load, open_beside, record_of
from .servers import OwnPostgreSQL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from rememberd import wiring

pytestmark = [pytest.mark.integration, pytest.mark.alone]

_TICK = 0.005


@pytest.fixture(scope="module")
def server() -> Iterator[OwnPostgreSQL]:
    made = OwnPostgreSQL()
    yield made
    made.stop()


@pytest.fixture
def url(server: OwnPostgreSQL) -> str:
    return server.fresh_database()


def test_a_server_killed_under_load_loses_nothing(server: OwnPostgreSQL, url: str, tmp_path: Path) -> None:
    row = asyncio.run(kill_under_load(server, url, tmp_path, cycles=2))
    assert row.passed, row


def test_what_waits_is_taken_over_by_the_next_process(server: OwnPostgreSQL, url: str, tmp_path: Path) -> None:
    async def crash_and_take_over() -> None:
        first, second = await open_beside(url, tmp_path), await open_beside(url, tmp_path)
        with server.paused():
            for i, opened in enumerate((first, second)):
                await Memory(opened.engine).of(user="lin", thread=f"t-{i}").ingest(f"from {i}")
            for opened in (first, second):
                await opened.engine.close()
        third = await open_beside(url, tmp_path)
        await drained(third)
        memory = Memory(third.engine)
        assert [await _contents(memory, f"t-{i}") for i in range(2)] == [["from 0"], ["from 1"]]
        await memory.close()

    asyncio.run(crash_and_take_over())


_POISON = """
CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE 'no'; END $$ LANGUAGE plpgsql;
CREATE TRIGGER poison BEFORE INSERT ON messages FOR EACH ROW WHEN (NEW.content = 'poison') EXECUTE FUNCTION refuse()
"""


def test_what_the_server_refuses_harms_no_neighbour(url: str, tmp_path: Path) -> None:
    async def refuse() -> None:
        opened = await open_beside(url, tmp_path)
        meddler = await asyncpg.connect(url)
        await meddler.execute(_POISON)
        await meddler.close()
        memory = Memory(opened.engine)
        calls = [memory.of(user="lin", thread=f"t-{i}").ingest("poison" if i == 3 else "fine") for i in range(8)]
        answers = [receipts.receipts[0].status for receipts in await asyncio.gather(*calls)]
        assert answers == ["recorded"] * 3 + ["spooled"] + ["recorded"] * 4
        await drained(opened)
        assert opened.engine._parts.spool.usage().dead == 1
        await memory.close()

    asyncio.run(refuse())


def test_a_server_that_is_slow_with_one_is_not_silent_for_others(url: str, tmp_path: Path) -> None:
    """Somebody else keeps all writers waiting; who reads is answered all the while, and so is told nothing else."""

    async def hold() -> None:
        opened = await open_beside(url, tmp_path)
        lin = Memory(opened.engine).of(user="lin", thread="t")
        holder = await asyncpg.connect(url)
        async with holder.transaction():
            await holder.execute("SELECT id FROM feed_lock FOR UPDATE")
            writing = asyncio.create_task(lin.ingest("meanwhile"))
            while not writing.done():
                await lin.history()
                await asyncio.sleep(0.05)
            assert (await writing).receipts[0].status == "spooled"
            for _ in range(10):
                await lin.history()
        await holder.close()
        await drained(opened)
        await opened.engine.close()

    asyncio.run(hold())


async def _contents(memory: Memory, thread: str) -> list[str]:
    return [message.content for message in await record_of(memory, thread)]


class Timed:
    """Calls, how long each took, and how late the machine let the loop be meanwhile: that much more is no fault."""

    def __init__(self) -> None:
        self.calls = list[tuple[str, float, float]]()
        self._ticks = list[tuple[float, float]]()

    async def __aenter__(self) -> Self:
        self._ticking = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *failure: object) -> None:
        self._ticking.cancel()

    async def _tick(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(_TICK)
            self._ticks.append((began, time.monotonic()))

    async def call(self, name: str, call: Callable[[], Awaitable[Any]]) -> None:
        began = time.monotonic()
        with suppress(StorageUnavailable):
            await call()
        self.calls.append((name, began, time.monotonic()))

    def beyond(self, seconds: float) -> list[str]:
        """The calls that took longer than that and than the machine was late."""
        late = [(name, ended - began, self._lateness(began, ended)) for name, began, ended in self.calls]
        return [f"{name}: {took:.2f} s, the loop late by {by:.2f} s" for name, took, by in late if took - by > seconds]

    def _lateness(self, began: float, ended: float) -> float:
        late = [min(until, ended) - max(since, began) - 2 * _TICK for since, until in self._ticks]
        return sum(by for by in late if by > 0)


def test_a_server_that_answers_nobody_holds_no_call_up_beyond_its_time_out(
    server: OwnPostgreSQL, url: str, tmp_path: Path
) -> None:
    async def pause() -> None:
        opened = await open_beside(url, tmp_path)
        memory = Memory(opened.engine)
        lin = memory.of(user="lin", thread="t")
        await lin.ingest("before")
        calls = _calls(opened, "t")
        with server.paused():
            async with Timed() as timed:
                for name, call in calls.items():
                    for _ in range(3):
                        await timed.call(name, call)
                await asyncio.gather(*(timed.call(name, call) for name, call in calls.items() for _ in range(3)))
            ready = await opened.engine.ready()
        assert "wait in the spool" in ready[0]
        assert timed.beyond(TIMEOUT + 0.1) == []
        await drained(opened)
        assert (await _contents(memory, "t"))[:2] == ["before", "meanwhile"]
        assert await opened.engine.ready() == ()
        await memory.close()

    asyncio.run(pause())


def test_a_call_has_one_time_out_whenever_the_server_stops_to_answer(
    server: OwnPostgreSQL, url: str, tmp_path: Path
) -> None:
    """It stops in the middle of calls, and answers again: what was answered in between gives no call more time."""

    async def pause_often() -> None:
        opened = await open_beside(url, tmp_path)
        stop = asyncio.Event()

        async def talk(thread: str, timed: Timed) -> None:
            calls = _calls(opened, thread)
            while not stop.is_set():
                for name, call in calls.items():
                    await timed.call(name, call)

        async with Timed() as timed:
            talking = [asyncio.create_task(talk(f"t-{i}", timed)) for i in range(4)]
            for seconds in (0.7, 1.3, 0.7, 0.9, 2.0):
                await asyncio.sleep(0.3)
                with server.paused():
                    await asyncio.sleep(seconds)
            stop.set()
            await asyncio.gather(*talking)
        assert timed.beyond(TIMEOUT + 0.1) == []
        await drained(opened)
        await opened.engine.close()

    asyncio.run(pause_often())


def _calls(opened: wiring.Opened, thread: str) -> dict[str, Callable[[], Awaitable[Any]]]:
    """Whatever asks the storage."""
    lin = Memory(opened.engine).of(user="lin", thread=thread)
    turns = list[str]()

    async def begin() -> None:
        said = NewMessage(role="user", content="anybody there?")
        turn = await opened.engine.begin_turn(lin.scope, said, Query(text="there?"), None)
        turns.append(turn.id)

    async def end() -> None:
        said = NewMessage(role="assistant", content="me")
        await opened.engine.end_turn(lin.scope, turns[-1], "ok", said, {})

    return {
        "query": lambda: lin.query("before"),
        "ingest": lambda: lin.ingest("meanwhile"),
        "begin a turn": begin,
        "end a turn": end,
        "window": lin.window,
        "history": lin.history,
        "search": lambda: lin.history(search="before"),
        "add": lambda: lin.add("likes tea"),
        "list": lin.list,
        "stats": opened.engine.operate.stats,
        "ready": opened.engine.ready,
    }


def test_a_server_that_answers_nobody_is_left_in_time(server: OwnPostgreSQL, url: str, tmp_path: Path) -> None:
    async def leave() -> None:
        opened = await open_beside(url, tmp_path)
        memory = Memory(opened.engine)
        await asyncio.gather(*(memory.of(user="lin", thread=f"t-{i}").history() for i in range(8)))
        with server.paused():
            async with Timed() as timed:
                await timed.call("close", memory.close)
        assert timed.beyond(2 * TIMEOUT) == []

    asyncio.run(leave())


def test_health_is_told_while_the_server_answers_nobody(server: OwnPostgreSQL, url: str, tmp_path: Path) -> None:
    async def ask() -> None:
        opened = await open_beside(url, tmp_path)
        app = create_app(opened.engine, gate=Gate())
        api_key = await opened.engine.operate.add_api_key("default")
        client = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app),
            base_url="http://localhost",
            headers={"Authorization": f"Bearer {api_key.token}"},
        )

        async def ingest() -> None:
            body = {"user": "lin", "thread": "t", "messages": [{"role": "user", "content": "hello"}]}
            answer = await client.post("/v1/ingest", json=body)
            assert answer.status_code == 202

        async def health() -> None:
            assert (await client.get("/healthz")).status_code == 200

        async with client as http:
            await http.get("/v1/history")
            await asyncio.sleep(1.1)  # the API key has to be looked up again
            with server.paused():
                async with Timed() as requests, Timed() as health_checks:
                    busy = [asyncio.create_task(requests.call("ingest", ingest)) for _ in range(10)]
                    for _ in range(30):
                        await health_checks.call("healthz", health)
                        await asyncio.sleep(0.02)
                    await asyncio.gather(*busy)
                readiness = (await http.get("/readyz")).json()
                assert readiness["status"] == "degraded"
            assert requests.beyond(TIMEOUT + 0.1) == []
            assert health_checks.beyond(0.1) == []
            await drained(opened)
            assert (await http.get("/readyz")).json()["status"] == "ok"
        await opened.engine.close()

    asyncio.run(ask())
