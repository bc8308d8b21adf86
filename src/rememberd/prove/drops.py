"""Replies that are lost: a caller who does not know asks again, and nothing is recorded twice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx2
import msgspec

from rememberd import wiring
from rememberd.model import NewMessage, Receipts, Scope

from .load import USER, read_thread
from .proxy import DroppingProxy
from .served import Served
from .verdict import NUMBER, Acknowledged, Row, judge

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .served import Place

    Advance = Callable[[int, int | None], None]
    Say = Callable[[str, NewMessage, str], Awaitable[Receipts]]

_CALLERS = 32
_THREADS = [f"caller-{caller}" for caller in range(_CALLERS)]
_JSON = {"Content-Type": "application/json"}
_receipts = msgspec.json.Decoder(Receipts).decode


async def dropped_replies(place: Place, times: int, *, advance: Advance | None = None) -> Row:
    """Lose the replies of ``times`` requests, half from our client and half raw ones, and repeat each request."""
    server = await Served.start(place)
    assert server is not None
    engine = wiring.open_remote(server.url)
    try:
        async with DroppingProxy(server.url, _lose_some) as proxy:
            acknowledged = await _talk(proxy.url, times, advance)
        verdict = judge(acknowledged, {thread: await read_thread(engine, thread) for thread in _THREADS})
    finally:
        await engine.close()
        await server.end()
    return Row(
        fault="reply dropped, request repeated",
        tries=proxy.dropped,
        acknowledged=len(acknowledged),
        lost=verdict.lost,
        duplicated=verdict.duplicated,
        disordered=verdict.disordered,
    )


def _lose_some(key: str, count: int) -> bool:
    """Every request loses its first reply, every third one the second too; the client tries three times."""
    return count <= (2 if key.endswith(("3", "6", "9")) else 1)


async def _talk(url: str, times: int, advance: Advance | None) -> list[Acknowledged]:
    acknowledged: list[Acknowledged] = []

    async def talk(say: Say, name: str, messages: int) -> None:
        for number in range(1, messages + 1):
            said = NewMessage(role="user", name=name, content=f"{name} says {number}", metadata={NUMBER: number})
            receipts = await say(name, said, f"{name}-{number}")
            acknowledged.extend(
                Acknowledged(receipts.thread, one.id, one.seq, said.content) for one in receipts.receipts
            )
            if advance:
                advance(len(acknowledged), times)

    remote, raw = wiring.open_remote(url), httpx2.AsyncClient(base_url=url)

    async def by_client(thread: str, said: NewMessage, key: str) -> Receipts:
        return await remote.ingest(Scope(user=USER, thread=thread), [said], key)

    async def by_hand(thread: str, said: NewMessage, key: str) -> Receipts:
        body = msgspec.json.encode({"user": USER, "thread": thread, "messages": [said]})
        while True:
            try:
                answer = await raw.post("/v1/ingest", content=body, headers={**_JSON, "Idempotency-Key": key})
            except httpx2.TransportError:
                continue
            return _receipts(answer.raise_for_status().content)

    try:
        async with asyncio.TaskGroup() as callers:
            for caller, thread in enumerate(_THREADS):
                messages = times // _CALLERS + (caller < times % _CALLERS)
                callers.create_task(talk(by_client if caller % 2 else by_hand, thread, messages))
    finally:
        await remote.close()
        await raw.aclose()
    return acknowledged
