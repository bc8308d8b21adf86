"""A caller whose reply was lost asks again; what it said is recorded once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx2
import pytest

from rememberd.prove.drops import dropped_replies
from rememberd.prove.proxy import DroppingProxy
from rememberd.prove.served import Served

if TYPE_CHECKING:
    from rememberd.prove.served import Place

REQUESTS = 300


def test_nothing_is_recorded_twice_when_replies_are_lost(place: Place) -> None:
    row = asyncio.run(dropped_replies(place, REQUESTS))
    assert row.passed, row
    assert row.acknowledged == REQUESTS
    assert row.tries > REQUESTS


def test_a_dropped_reply_is_one_to_a_request_that_was_carried_out(place: Place) -> None:
    async def lose_one() -> None:
        server = await Served.start(place)
        assert server is not None
        try:
            async with DroppingProxy(server.url, lambda key, count: True) as proxy, httpx2.AsyncClient() as http:
                with pytest.raises(httpx2.TransportError):
                    await http.post(
                        f"{proxy.url}/v1/ingest",
                        json={"user": "lin", "thread": "t", "role": "user", "content": "hello"},
                        headers={"Idempotency-Key": "k"},
                    )
                recorded = (await http.get(f"{server.url}/v1/history", params={"user": "lin"})).json()["items"]
                assert [message["content"] for message in recorded] == ["hello"]
                assert proxy.dropped == 1
        finally:
            await server.end()

    asyncio.run(lose_one())
