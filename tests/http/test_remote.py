"""The remote engine answers what the local one does, and fails as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from rememberd.client import RemoteEngine
from rememberd.errors import (
    AccessDenied,
    Conflict,
    IdempotencyConflict,
    InvalidRequest,
    NotAuthenticated,
    NotFound,
    RememberdError,
    ServerUnreachable,
    StaleRevision,
    StorageFull,
    StorageUnavailable,
    ThreadTaken,
    Unavailable,
)
from rememberd.memory import Memory
from rememberd.model import Filters, MemoryPatch, NewMemory, NewMessage, Progress, Query, Scope
from rememberd.ports.vectors import PutVectors, Serve, Space, Vector, Want

if TYPE_CHECKING:
    from rememberd.verbs import Engine

    from .conftest import House

LIN = Scope("acme", "lin", None, "t-42")
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)

Ask = Callable[["Engine"], Awaitable[Any]]


@pytest.fixture
def remote(house: House) -> Iterator[RemoteEngine]:
    remote = RemoteEngine("http://localhost", transport=house.transport)
    yield remote
    house.run(remote.close())


def _says(content: str, **fields: Any) -> NewMessage:
    return NewMessage(role="user", content=content, **fields)


@pytest.fixture
def furnished(house: House, remote: RemoteEngine) -> dict[str, str]:
    """A store with something in it, written from afar; the ids of a memory item and a turn."""

    async def furnish() -> dict[str, str]:
        words = [f"第{number}杯乌龙茶 oolong tea, cup {number}" for number in range(30)]
        await remote.ingest(
            LIN, [_says(text, name="Lin", at=NOON, metadata={"n": [1, 2.5, None]}) for text in words], None
        )
        item = await remote.add(
            LIN.within(None),
            NewMemory(text="Lin drinks oolong tea", topic="tea", valid_from=NOON, metadata={"a": {}}),
            None,
        )
        await remote.revise(LIN, item.id, MemoryPatch(importance=0.9), 1)
        turn = await remote.begin_turn(LIN, _says("more tea?"), Query(text="tea", k=3), None)
        return {"memory": item.id, "turn": turn.id}

    return house.run(furnish())


READS: dict[str, Callable[[dict[str, str]], Ask]] = {
    "query": lambda _: lambda e: e.query(LIN, Query(text="乌龙茶 oolong", k=3, budget=400, explain=True)),
    "query nothing": lambda _: lambda e: e.query(LIN, Query(text="zebra")),
    "query with filters": lambda _: (
        lambda e: e.query(
            LIN,
            Query(
                text="tea",
                filters=Filters(kind=("fact", "message"), topic=("tea",), after=datetime(2020, 1, 1, tzinfo=UTC)),
                now=NOON,
                timezone="Asia/Shanghai",
                floor=0.0,
            ),
        )
    ),
    "history": lambda _: lambda e: e.history(LIN, order="oldest", after=None, limit=7, search=None),
    "history of words": lambda _: lambda e: e.history(LIN, order="newest", after=None, limit=5, search="oolong"),
    "window": lambda _: lambda e: e.window(LIN, resume=False),
    "window of nobody": lambda _: lambda e: e.window(replace(LIN, user="mei"), resume=True),
    "get": lambda ids: lambda e: e.get(LIN, ids["memory"]),
    "list": lambda _: lambda e: e.list(LIN, Filters(topic=("tea", "coffee")), after=None, limit=10),
    "list of others": lambda _: (
        lambda e: e.list(
            LIN, Filters(agent=("x",), thread=("y",), before=NOON, metadata={"k": ("v",)}), after=None, limit=10
        )
    ),
    "versions": lambda ids: lambda e: e.versions(LIN, ids["memory"]),
    "operate.query": lambda _: lambda e: e.operate.query("acme", Query(text="tea")),
    "operate.audit": lambda _: lambda e: e.operate.audit("acme", limit=3),
    "operate.jobs": lambda _: lambda e: e.operate.jobs(),
    "operate.doctor": lambda _: lambda e: e.operate.doctor(),
    "operate.settle": lambda _: lambda e: e.operate.settle(5.0),
    "operate.stats": lambda _: lambda e: e.operate.stats("acme"),
    "operate.rebuild": lambda _: lambda e: _all(e.operate.rebuild("index")),
}


async def _all(steps: Any) -> list[Any]:
    return [step async for step in steps]


@pytest.mark.parametrize("name", READS)
def test_a_read_is_equal_from_afar(house: House, remote: RemoteEngine, furnished: dict[str, str], name: str) -> None:
    ask = READS[name](furnished)
    house.run(house.engine.operate.settle())

    async def both() -> tuple[Any, Any]:
        if name == "operate.audit":
            return await ask(house.engine), await ask(remote)
        return await ask(remote), await ask(house.engine)

    one, other = house.run(both())
    assert one == other


def test_a_context_from_afar_is_whole(house: House, remote: RemoteEngine, furnished: dict[str, str]) -> None:
    context = house.run(remote.query(LIN, Query(text="oolong tea", k=2, budget=600)))
    assert len(context.raw) == 2
    assert len(context.items) > 2, "the context is packed from the whole ranking"
    assert context.citations
    assert context.messages


WRONG: dict[str, tuple[type[RememberdError], Ask]] = {
    "an empty message": (InvalidRequest, lambda e: e.ingest(LIN, [_says("ok"), _says("")], None)),
    "no message": (InvalidRequest, lambda e: e.ingest(LIN, [], None)),
    "NUL": (InvalidRequest, lambda e: e.query(LIN, Query(text="a\0"))),
    "a negative k": (InvalidRequest, lambda e: e.query(LIN, Query(text="tea", k=-1))),
    "too large a limit": (
        InvalidRequest,
        lambda e: e.history(LIN, order="newest", after=None, limit=5000, search=None),
    ),
    "a bad cursor": (InvalidRequest, lambda e: e.list(LIN, Filters(), after="nonsense", limit=5)),
    "an unknown kind": (InvalidRequest, lambda e: e.add(LIN, NewMemory(text="x", kind="message"), None)),
    "no such memory": (NotFound, lambda e: e.get(LIN, "nothing")),
    "no such turn": (NotFound, lambda e: e.end_turn(LIN, "nothing", "ok", None, {})),
    "another user's thread": (ThreadTaken, lambda e: e.ingest(replace(LIN, user="mei"), [_says("hi")], None)),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_the_same_from_afar(
    house: House, remote: RemoteEngine, furnished: dict[str, str], name: str
) -> None:
    kind, ask = WRONG[name]
    raised = []
    for engine in (house.engine, remote):
        with pytest.raises(kind) as failure:
            house.run(_await(ask(engine)))
        raised.append(failure.value)
    assert [type(error) for error in raised] == [kind, kind]
    if isinstance(raised[0], InvalidRequest):
        pointers = [[fault.pointer for fault in error.faults] for error in raised if isinstance(error, InvalidRequest)]
        assert pointers[0] == pointers[1]
    else:
        assert raised[0].detail == raised[1].detail


async def _await(call: Awaitable[Any]) -> Any:
    return await call


def test_a_stale_revision_is_told_from_afar(house: House, remote: RemoteEngine, furnished: dict[str, str]) -> None:
    with pytest.raises(StaleRevision):
        house.run(remote.revise(LIN, furnished["memory"], MemoryPatch(text="x"), 1))
    with pytest.raises(StaleRevision):
        house.run(remote.delete(LIN, furnished["memory"], 1))
    house.run(remote.delete(LIN, furnished["memory"], 2))
    with pytest.raises(NotFound):
        house.run(remote.get(LIN, furnished["memory"]))


def test_an_idempotency_key_is_the_same_from_afar(house: House, remote: RemoteEngine) -> None:
    scope = Scope(user="lin")
    first = house.run(house.engine.ingest(scope, [_says("hi", at=NOON)], "订单-1"))
    again = house.run(remote.ingest(scope, [_says("hi", at=NOON)], "订单-1"))
    assert (again.thread, again.receipts[0].id, again.receipts[0].status) == (
        first.thread,
        first.receipts[0].id,
        "duplicate",
    )
    with pytest.raises(IdempotencyConflict):
        house.run(remote.ingest(scope, [_says("other")], "订单-1"))


def test_a_turn_is_run_from_afar(house: House, remote: RemoteEngine) -> None:
    async def talk() -> None:
        async with Memory(remote).of(user="lin", thread="t").turn("hello") as turn:
            assert turn.receipt is not None
            receipt = await turn.reply("hi", sentiment={"joy": 1})
            assert receipt is not None

    house.run(talk())
    said = house.run(house.engine.history(Scope(user="lin"), order="oldest", after=None, limit=9, search=None))
    assert [(message.role, message.content) for message in said.items] == [("user", "hello"), ("assistant", "hi")]


def test_an_api_key_of_a_tenant_needs_no_tenant(locked: House) -> None:
    token = locked.run(locked.engine.operate.add_api_key("acme")).token
    remote = RemoteEngine("http://localhost", token, locked.transport)
    locked.run(remote.ingest(Scope(user="lin", thread="t"), [_says("hi")], None))
    [message] = locked.run(remote.window(Scope(user="lin", thread="t"), resume=False))
    assert message.tenant == "acme"
    with pytest.raises(AccessDenied):
        locked.run(remote.window(Scope("globex", "lin", None, "t"), resume=False))
    with pytest.raises(AccessDenied):
        locked.run(remote.operate.stats())
    with pytest.raises(NotAuthenticated):
        locked.run(RemoteEngine("http://localhost", "wrong", locked.transport).window(LIN, resume=False))


def test_api_keys_are_kept_from_afar(house: House, remote: RemoteEngine) -> None:
    made = house.run(remote.operate.add_api_key("acme"))
    [listed] = house.run(remote.operate.api_keys())
    assert (listed.id, listed.tenant, listed.revoked_at) == (made.id, "acme", None)
    assert house.run(remote.operate.revoke_api_key(made.id))
    assert not house.run(remote.operate.revoke_api_key(made.id))


def test_lanes_are_shown_and_dropped_from_afar(house: House, remote: RemoteEngine) -> None:
    old, new = Space("en", "old/1"), Space("en", "new")
    storage = house.engine._parts.storage
    vector = Vector(tenant="acme", noun="message", id="m", lane="en", model="old/1", data=b"1234")

    async def change() -> None:
        await storage.write(Want((old,)), PutVectors(vectors=(vector,)))
        await storage.write(Want((new,)))
        await storage.write(Serve(frozenset((new,))))

    house.run(change())
    shown = house.run(remote.operate.lanes())
    assert shown == house.run(house.engine.operate.lanes())
    assert {lane.model: lane.state for lane in shown} == {"old/1": "kept", "new": "serving"}
    assert house.run(remote.operate.drop_lane("en", "old/1")) == 1
    with pytest.raises(NotFound):
        house.run(remote.operate.drop_lane("en", "old/1"))
    with pytest.raises(Conflict):
        house.run(remote.operate.drop_lane("en", "new"))


class Flaky(httpx2.AsyncBaseTransport):
    """A network that fails a number of times before, or after, the server got the request."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, failures: list[Exception | int], *, after: bool) -> None:
        self._inner = inner
        self._failures = failures
        self._after = after
        self.sent = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent += 1
        if not self._failures:
            return await self._inner.handle_async_request(request)
        if self._after:
            await self._inner.handle_async_request(request)
        failure = self._failures.pop(0)
        if isinstance(failure, int):
            return httpx2.Response(failure, content=b"<html>")
        raise failure


def test_a_write_whose_answer_was_lost_is_repeated_without_harm(house: House) -> None:
    network = Flaky(house.transport, [httpx2.ReadTimeout("lost")], after=True)
    receipts = house.run(RemoteEngine("http://localhost", transport=network).ingest(LIN, [_says("hi")], None))
    assert (network.sent, receipts.receipts[0].status) == (2, "duplicate")
    assert len(house.run(house.engine.window(LIN, resume=False))) == 1


def test_a_revision_whose_answer_was_lost_is_not_repeated(house: House, furnished: dict[str, str]) -> None:
    network = Flaky(house.transport, [httpx2.ReadError("lost")], after=True)
    with pytest.raises(ServerUnreachable):
        house.run(
            RemoteEngine("http://localhost", transport=network).revise(
                LIN, furnished["memory"], MemoryPatch(topic="x"), None
            )
        )
    assert network.sent == 1


def test_what_never_left_is_sent_again(house: House, furnished: dict[str, str]) -> None:
    network = Flaky(house.transport, [httpx2.ConnectError("refused")], after=False)
    remote = RemoteEngine("http://localhost", transport=network)
    assert house.run(remote.revise(LIN, furnished["memory"], MemoryPatch(topic="x"), None)).topic == "x"


def test_a_server_that_is_gone_is_unreachable(house: House) -> None:
    network = Flaky(house.transport, [httpx2.ConnectError("refused")] * 9, after=False)
    with pytest.raises(ServerUnreachable) as failure:
        house.run(RemoteEngine("http://localhost", transport=network).query(LIN, Query(text="tea")))
    assert (network.sent, failure.value.retryable) == (3, True)


def test_a_turn_runs_while_the_server_is_gone(house: House) -> None:
    network = Flaky(house.transport, [httpx2.ConnectError("refused")] * 9, after=False)

    async def talk() -> tuple[str, ...]:
        async with Memory(RemoteEngine("http://localhost", transport=network)).of(user="lin").turn("hello") as turn:
            assert await turn.reply("hi") is None
        return turn.context.degraded

    [missing] = house.run(talk())
    assert missing.startswith("server_unreachable")


@pytest.mark.parametrize(("status", "failure"), [(502, Unavailable), (404, RememberdError)])
def test_a_server_that_is_something_else_is_told(house: House, status: int, failure: type[RememberdError]) -> None:
    network = Flaky(house.transport, [status] * 9, after=False)
    with pytest.raises(failure, match="Is it rememberd"):
        house.run(RemoteEngine("http://localhost", transport=network).operate.stats())


def test_a_rebuild_that_breaks_on_the_way_is_told_from_afar(
    house: House, remote: RemoteEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(*_: object, **__: object) -> AsyncIterator[Progress]:
        yield Progress(1, 2)
        raise StorageUnavailable("gone")

    monkeypatch.setattr("rememberd.operate.operations.LocalOperations.rebuild", breaks)

    steps: list[Progress] = []

    async def follow() -> None:
        async for step in remote.operate.rebuild():
            steps.append(step)  # noqa: PERF401 - the loop ends by raising

    with pytest.raises(StorageUnavailable, match="gone"):
        house.run(follow())
    assert steps == [Progress(1, 2)]


def test_a_full_storage_is_told_from_afar(house: House, remote: RemoteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> None:
        raise StorageFull("the disk is full")

    monkeypatch.setattr("rememberd.engine.LocalEngine.ingest", full)
    with pytest.raises(StorageFull, match="the disk is full"):
        house.run(remote.ingest(LIN, [_says("hi")], None))
