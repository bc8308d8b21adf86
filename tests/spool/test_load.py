"""Under load: whatever the storage is kept from, nothing acknowledged is lost or doubled, and the order is kept."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from rememberd.errors import StorageFull, StorageUnavailable
from rememberd.server import Gate, create_app
from tests.cli.processes import Server

from .outage import drained, locked, quick_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.conftest import Store

CLIENTS = 8


@contextmanager
def held(store: Store) -> Iterator[type[Exception]]:
    """Another connection holds the storage."""
    with locked(store.folder):
        yield StorageUnavailable


@contextmanager
def read_only(store: Store) -> Iterator[type[Exception]]:
    """SQLite answers every write as it does on a read-only file system; permissions would not stop root."""
    writer = store.parts.storage._executor._writer  # type: ignore[attr-defined]
    writer.execute("PRAGMA query_only=ON")
    yield StorageUnavailable
    writer.execute("PRAGMA query_only=OFF")


@contextmanager
def full(store: Store) -> Iterator[type[Exception]]:
    """The database may not grow by a single page, as on a full disk."""
    writer = store.parts.storage._executor._writer  # type: ignore[attr-defined]
    [[pages]] = writer.execute("PRAGMA page_count")
    writer.execute(f"PRAGMA max_page_count={pages}")
    yield StorageFull
    writer.execute("PRAGMA max_page_count=1000000")


async def _send(store: Store, thread: str, numbers: range) -> list[str]:
    lin = store.memory.of(user="lin", thread=thread)
    return [(await lin.ingest(f"{i} " + "字" * 200)).receipts[0].status for i in numbers]


def _numbers(store: Store, thread: str) -> list[int]:
    found, after = list[int](), None
    while True:
        lin = store.memory.of(user="lin", thread=thread)
        page = store.run(lin.history(order="oldest", limit=1000, after=after))
        found += [int(message.content.split()[0]) for message in page.items]
        if (after := page.next) is None:
            return found


@pytest.mark.parametrize("outage", [held, read_only, full])
def test_an_outage_under_load_loses_nothing_and_reads_work(
    tmp_path: Path, outage: Callable[[Store], AbstractContextManager[type[Exception]]]
) -> None:
    store = quick_store(tmp_path / "memory", failure_queue__file_bytes=20_000)
    threads = [f"t-{i}" for i in range(CLIENTS)]

    async def load(numbers: range) -> set[str]:
        answers = await asyncio.gather(*(_send(store, thread, numbers) for thread in threads))
        return {status for statuses in answers for status in statuses}

    assert store.run(load(range(5))) == {"recorded"}
    with outage(store) as refusal:
        assert "spooled" in store.run(load(range(5, 30)))
        assert len(list((store.folder / "spool").glob("*.spool"))) >= 3
        assert _numbers(store, "t-0")[:5] == list(range(5))
        assert "29" in store.run(store.memory.of(user="lin", thread="t-0").window())[-1].content
        assert store.run(store.memory.of(user="lin").query("字字")).raw
        with pytest.raises(refusal):
            store.run(store.memory.of(user="lin").add("x" * 100_000))
    drained(store)
    store.run(load(range(30, 35)))
    drained(store)
    for thread in threads:
        assert _numbers(store, thread) == list(range(35))
    store.close()


def test_when_the_spool_is_full_too_calls_are_refused_and_may_be_tried_again(tmp_path: Path) -> None:
    store = quick_store(tmp_path / "memory", failure_queue__max_bytes=20_000)
    app = create_app(store.opened.engine, gate=Gate(keyless=True))
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost")
    acknowledged = list[int]()

    async def send(i: int) -> httpx2.Response:
        message = {"role": "user", "content": f"{i} " + "x" * 500}
        answer = await http.post("/v1/ingest", json={"user": "lin", "thread": "t", "messages": [message]})
        if answer.is_success:
            acknowledged.append(i)
        return answer

    with full(store):
        answers = [store.run(send(i)) for i in range(40)]
        assert {answer.status_code for answer in answers} >= {202, 507}
        refused = next(answer for answer in answers if answer.status_code == 507)
        assert refused.headers["Retry-After"]
        assert refused.json()["code"] == "storage_full"
        assert refused.json()["retryable"]
        assert store.run(http.get("/readyz")).status_code in (200, 507)
        assert store.run(http.get("/v1/history?user=lin")).status_code == 200
    drained(store)
    assert store.run(send(40)).status_code == 201
    assert _numbers(store, "t") == acknowledged
    store.run(http.aclose())
    store.close()


class Client:
    """Sends one message after the other, each until it is acknowledged, and notes how."""

    def __init__(self, thread: str, number: int) -> None:
        self.thread, self.number = thread, number
        self.statuses = list[str]()

    async def run(self, url: Callable[[], str]) -> None:
        async with httpx2.AsyncClient(timeout=30) as http:
            while len(self.statuses) < self.number:
                i = len(self.statuses)
                body: dict[str, Any] = {
                    "user": "lin",
                    "thread": self.thread,
                    "messages": [{"role": "user", "content": f"{i} 你好 " + "x" * 300}],
                }
                try:
                    answer = await http.post(
                        f"{url()}/v1/ingest", json=body, headers={"Idempotency-Key": f"{self.thread} {i}"}
                    )
                    answer.raise_for_status()
                except httpx2.HTTPError:
                    await asyncio.sleep(0.05)
                    continue
                self.statuses.append(answer.json()["receipts"][0]["status"])


def _wait_until_drained(server: Server) -> float:
    """Answers how long it took, in seconds."""
    began = time.monotonic()
    while httpx2.get(f"{server.url}/v1/ops/stats").json()["spool"]:
        assert time.monotonic() - began < 60
        time.sleep(0.05)
    return time.monotonic() - began


def _contents(server: Server, thread: str) -> list[str]:
    """The first words of what was recorded in a thread, in order."""
    found: list[str] = []
    asked = {"user": "lin", "thread": thread, "order": "oldest", "limit": "1000"}
    while True:
        page = httpx2.get(f"{server.url}/v1/history", params=asked).json()
        found += [message["content"].split()[0] for message in page["items"]]
        if page["next"] is None:
            return found
        asked["after"] = page["next"]


def spool_through_restarts(tmp_path: Path, messages: int) -> float:
    """How long it took, in seconds, until everything was recorded after the storage was back."""
    variables = {
        "REMEMBERD_FAILURE_QUEUE_FILE_BYTES": str(messages * 200 // 5),
        "REMEMBERD_FAILURE_QUEUE_MEMORY_LIMIT": "100",
        "REMEMBERD_DATABASE_LOCK_TIMEOUT": "0.5",
        "REMEMBERD_LOG_LEVEL": "error",  # nobody reads the log while the server runs, and its pipe is small
    }
    data = tmp_path / "memory"
    server = Server(tmp_path, "--data", str(data), **variables)
    clients = [Client(f"t-{i}", messages // CLIENTS) for i in range(CLIENTS)]

    async def load() -> None:
        nonlocal server
        sending = [asyncio.create_task(client.run(lambda: server.url)) for client in clients]
        for how, share in ((signal.SIGKILL, 1 / 3), (signal.SIGTERM, 2 / 3)):
            while sum(len(client.statuses) for client in clients) < share * messages:
                await asyncio.sleep(0.02)
            await asyncio.to_thread(server.end, how)
            server = await asyncio.to_thread(Server, tmp_path, "--data", str(data), **variables)
        await asyncio.gather(*sending)

    try:
        with locked(data):
            asyncio.run(load())
            assert {status for client in clients for status in client.statuses} <= {"spooled", "duplicate"}
            assert len(list((data / "spool").glob("*.spool"))) >= 3
            assert httpx2.get(f"{server.url}/readyz").json()["status"] == "degraded"
        took = _wait_until_drained(server)
        for client in clients:
            assert _contents(server, client.thread) == [str(i) for i in range(client.number)]
        assert httpx2.get(f"{server.url}/v1/ops/stats").json()["dead_letters"] == 0
    finally:
        server.end()
    return took


@pytest.mark.slow
def test_what_was_spooled_through_two_restarts_is_recorded_in_order(tmp_path: Path) -> None:
    assert spool_through_restarts(tmp_path, 480) < 60


@pytest.mark.slow
@pytest.mark.parametrize("point", ["spool.rotate", "spool.replay", "spool.dead_letter"])
def test_a_crash_at_any_point_of_the_spool_loses_and_doubles_nothing(tmp_path: Path, point: str) -> None:
    data, client = tmp_path / "memory", Client("t", 20)
    variables = {
        "REMEMBERD_FAILURE_QUEUE_FILE_BYTES": "2000",
        "REMEMBERD_FAILURE_QUEUE_BATCH_SIZE": "3",
        "REMEMBERD_DATABASE_LOCK_TIMEOUT": "0.2",
    }
    with Server(tmp_path, "--data", str(data), **variables) as server:
        taken = {"user": "lin", "thread": "t", "messages": [{"role": "user", "content": "first"}]}
        httpx2.post(f"{server.url}/v1/ingest", json=taken, headers={"Idempotency-Key": "t 3"}).raise_for_status()
    server = Server(tmp_path, "--data", str(data), REMEMBERD_CRASH=point, **variables)

    async def replace_when_dead() -> int:
        nonlocal server
        await asyncio.to_thread(server.process.communicate)
        code = server.process.returncode
        server = await asyncio.to_thread(Server, tmp_path, "--data", str(data), **variables)
        return code

    async def crash() -> None:
        dead = asyncio.create_task(replace_when_dead())
        with locked(data):
            await client.run(lambda: server.url)
        assert await asyncio.wait_for(dead, 30) == -signal.SIGKILL

    try:
        asyncio.run(crash())
        _wait_until_drained(server)
        numbers = [str(i) for i in range(20) if i != 3]  # its key was taken by another body
        assert _contents(server, "t") == ["first", *numbers]
        [letter] = httpx2.get(f"{server.url}/v1/ops/failures").json()["items"]
        assert (letter["state"], letter["reason"]) == ("dead", "conflict")
    finally:
        server.end()
