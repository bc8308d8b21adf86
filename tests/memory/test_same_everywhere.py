"""Every verb gives the same results local, remote and blocking: one table of calls, compared answer by answer."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from rememberd import blocking, wiring
from rememberd.client import RemoteEngine
from rememberd.errors import RememberdError
from rememberd.memory import Handle, Memory
from rememberd.model import Query, Scope
from rememberd.server import Gate, create_app
from tests.conftest import Clock, plain_settings

LIN = Scope("acme", "lin", None, "t-1")
TOMORROW = datetime(2026, 11, 16, tzinfo=UTC)
SAID = ["我想买一台笔记本电脑", {"role": "agent", "content": "好的"}]

#: A call takes a memory of any kind, and the results so far. Messages bring idempotency keys, which their ids follow
#: from: a remote engine makes up those that are missing.
Call = Callable[[Any, list[Any]], Any]

CALLS: dict[str, Call] = {
    "ingest": lambda m, r: m.ingest(LIN, SAID, idempotency_key="k"),
    "ingest again": lambda m, r: m.ingest(LIN, SAID, idempotency_key="k"),
    "ingest what conflicts": lambda m, r: m.ingest(LIN, ["别的"], idempotency_key="k"),
    "ingest into another's thread": lambda m, r: m.ingest(
        Scope("acme", "mei", None, "t-1"), "hello", idempotency_key="o"
    ),
    "ingest nonsense": lambda m, r: m.ingest(LIN, ["", {"role": "user", "content": "x", "name": ""}]),
    "ingest with everything": lambda m, r: m.ingest(
        Scope("acme", "lin", "seller", "t-2"),
        [{"role": "tool", "content": "red umbrella", "name": "shop", "at": TOMORROW, "metadata": {"深": [1, 2.5]}}],
        idempotency_key="e",
    ),
    "query": lambda m, r: m.query(LIN, "电脑", explain=True),
    "query with options": lambda m, r: m.query(
        Scope("acme", "lin", "seller"), "umbrella", k=3, budget=80, filters={"role": "tool", "after": TOMORROW},
        now=TOMORROW + timedelta(days=3), timezone="Asia/Shanghai", floor=0.01,
    ),
    "query a time": lambda m, r: m.query(LIN, "我今天说了什么？", timezone="Asia/Shanghai"),
    "query a time when nothing was said": lambda m, r: m.query(LIN, "what did I say last Tuesday?", now=TOMORROW),
    "query what does not fit": lambda m, r: m.query(LIN, "电脑", k=1, budget=12, explain=True),
    "query what was never said": lambda m, r: m.query(LIN, "submarine", floor=0.9, explain=True),
    "query the past": lambda m, r: m.query(LIN, "电脑", as_of=datetime(2020, 1, 1, tzinfo=UTC)),
    "query with a bad filter": lambda m, r: m.query(LIN, "x", filters={"colour": "red"}),
    "query with a bad number": lambda m, r: m.query(LIN, "x", k=0),
    "history": lambda m, r: m.history(LIN, limit=1),
    "the next page": lambda m, r: m.history(LIN, limit=1, after=r[-1].next),
    "history by words": lambda m, r: m.history(LIN, search="电脑", order="oldest"),
    "a cursor of another list": lambda m, r: m.history(Scope("acme", "mei"), after=r[-3].next),
    "window": lambda m, r: m.window(LIN),
    "window, resumed": lambda m, r: m.window(LIN, resume=True),
    "window without a thread": lambda m, r: m.window(Scope("acme", "lin")),
    "add": lambda m, r: m.add(
        LIN, "prefers light foundation", kind="preference", source="chat", importance=0.9, topic="make-up",
        domain="shop", valid_from=TOMORROW - timedelta(days=9), valid_until=TOMORROW + timedelta(days=9),
        expires_at=TOMORROW + timedelta(days=99), metadata={"n": 1}, idempotency_key="a",
    ),
    "add again": lambda m, r: m.add(
        LIN, "prefers light foundation", kind="preference", source="chat", importance=0.9, topic="make-up",
        domain="shop", valid_from=TOMORROW - timedelta(days=9), valid_until=TOMORROW + timedelta(days=9),
        expires_at=TOMORROW + timedelta(days=99), metadata={"n": 1}, idempotency_key="a",
    ),
    "add what is held": lambda m, r: m.add(Scope("acme", "mei"), "Mei likes tea"),
    "add what is held, again": lambda m, r: m.add(Scope("acme", "mei"), "mei likes tea!", topic="drinks"),
    "add a bad kind": lambda m, r: m.add(LIN, "x", kind="message"),
    "get": lambda m, r: m.get(LIN, r[-4].id),
    "get another's": lambda m, r: m.get(Scope("acme", "mei"), r[-1].id),
    "revise": lambda m, r: m.revise(LIN, r[-2].id, text="prefers full foundation", expected=1),
    "revise what is stale": lambda m, r: m.revise(LIN, r[-1].id, text="prefers none", expected=1),
    "list": lambda m, r: m.list(LIN, filters={"kind": ["preference"], "metadata.n": "1"}, limit=5),
    "versions": lambda m, r: m.versions(LIN, r[-3].id),
    "delete": lambda m, r: m.delete(LIN, r[-4].id),
    "delete again": lambda m, r: m.delete(LIN, r[-5].id),
    "stats": lambda m, r: m.stats(LIN),
    "settle": lambda m, r: m.settle(10),
    "query over everyone": lambda m, r: m.operate.query("acme", Query(text="umbrella")),
    "jobs": lambda m, r: m.operate.jobs(),
    "failures": lambda m, r: m.operate.failures("dead", limit=5),
    "a failure that is not there": lambda m, r: m.operate.failure("f-1"),
    "replay all failures": lambda m, r: m.operate.replay_failures(),
    "replay a failure that is not there": lambda m, r: m.operate.replay_failures("f-1"),
    "discard a failure that is not there": lambda m, r: m.operate.discard_failure("f-1"),
    "a job that is not there": lambda m, r: m.operate.job("none"),
    "retry what is not there": lambda m, r: m.operate.retry_job("none at all"),
    "cancel what is not there": lambda m, r: m.operate.cancel_job("none?"),
    "api keys": lambda m, r: m.operate.api_keys(),
}  # fmt: skip


@dataclass
class Ids:
    numbers: Any = field(default_factory=itertools.count)

    def __call__(self) -> str:
        return f"00000000-0000-7000-8000-{next(self.numbers):012d}"


async def _engine() -> Any:
    return (await wiring.open_reference(plain_settings(), clock=Clock(), ids=Ids())).engine


async def _local() -> Memory:
    return Memory(await _engine())


async def _remote() -> Memory:
    app = create_app(await _engine(), gate=Gate(keyless=True))
    return Memory(RemoteEngine("http://localhost", transport=httpx2.ASGITransport(app)))


def _ask(memory: Any, run: Callable[[Any], Any]) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name, call in CALLS.items():
        try:
            results[name] = run(call(memory, list(results.values())))
        except RememberdError as failure:
            results[name] = (type(failure), failure.detail, getattr(failure, "faults", None))
    return results


def _ask_async(opening: Callable[[], Coroutine[Any, Any, Memory]]) -> dict[str, Any]:
    with asyncio.Runner() as runner:
        memory = runner.run(opening())
        results = _ask(memory, runner.run)
        runner.run(memory.close())
        return results


def _ask_blocking() -> dict[str, Any]:
    portal = blocking.Portal()
    with blocking.BlockingMemory(portal.wait(_local()), portal) as memory:
        return _ask(memory, lambda result: result)


@pytest.mark.parametrize("other", ["remote", "blocking"])
def test_the_same_calls_give_the_same_answers(other: str) -> None:
    local = _ask_async(_local)
    there = _ask_async(_remote) if other == "remote" else _ask_blocking()
    for name in CALLS:
        if name == "stats":  # counters of tokens are the process's
            assert (there[name].messages, there[name].memories) == (local[name].messages, local[name].memories)
        else:
            assert there[name] == local[name], name


def test_the_table_calls_every_verb() -> None:
    called = "".join(inspect.getsource(call) for call in CALLS.values())
    verbs = {name for name in vars(Handle) if not name.startswith("_")} - {"turn"}
    assert {verb for verb in verbs if f"m.{verb}(" not in called} == set()


def _public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_memory_and_blocking_have_the_same_verbs() -> None:
    assert _public(Memory) - {"engine"} == _public(blocking.BlockingMemory)
    assert _public(Handle) | {"scope"} == _public(blocking.BlockingHandle)
    for verb in _public(Handle) - {"turn", "scope"}:
        asked, waited = (inspect.signature(getattr(kind, verb)) for kind in (Handle, blocking.BlockingHandle))
        assert asked.parameters == waited.parameters, verb


@pytest.mark.parametrize("opening", [_local, _remote])
def test_a_turn_is_the_same_at_home_and_away(opening: Callable[[], Coroutine[Any, Any, Memory]]) -> None:
    async def converse() -> tuple[Any, ...]:
        async with await opening() as memory:
            lin = memory.of(LIN)
            await lin.ingest("我皮肤敏感")
            async with lin.turn("皮肤敏感用什么粉底？") as turn:
                receipt = await turn.reply("轻薄的", confidence=0.9)
            return turn.context, turn.receipt, receipt, (await lin.history()).items

    context, begun, ended, said = asyncio.run(converse())
    assert (begun.seq, ended.seq) == (2, 3)
    assert [message.content for message in said] == ["轻薄的", "皮肤敏感用什么粉底？", "我皮肤敏感"]
    assert context.messages[-1].content == "皮肤敏感用什么粉底？"
