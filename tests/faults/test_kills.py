"""A server that is killed has lost nothing that it acknowledged; ``make faults`` does this some hundreds of times."""

from __future__ import annotations

import asyncio
import itertools
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from rememberd.client import RemoteEngine
from rememberd.errors import ServerUnreachable
from rememberd.model import NewMessage, Scope
from rememberd.prove.kills import crashes, random_kills
from rememberd.prove.scenarios import SCENARIOS
from rememberd.prove.served import Place, Served

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from random import Random

pytestmark = pytest.mark.slow

LIN = Scope(user="lin", thread="t")


def test_nothing_acknowledged_is_lost_by_kills_at_random_moments(place: Place, random: Random) -> None:
    row = asyncio.run(random_kills(place, random, 3))
    assert row.passed, row
    assert row.tries == 3
    assert row.acknowledged >= 3


def test_nothing_acknowledged_is_lost_by_death_at_any_crash_point(place: Place, random: Random) -> None:
    row = asyncio.run(crashes(place, random, list(SCENARIOS)))
    assert row.passed, row
    assert row.tries == len(SCENARIOS)


def test_what_was_acknowledged_is_found_after_death_in_the_middle_of_indexing(place: Place) -> None:
    async def look(engine: RemoteEngine, said: list[str]) -> None:
        assert (await engine.operate.settle()).settled
        for content in said:
            found = await engine.history(LIN, order="newest", after=None, limit=10, search=content)
            assert [message.content for message in found.items] == [content]

    asyncio.run(after_death_at("index.middle", place, look))


def test_what_is_recorded_has_its_audit_entry_after_death_before_the_answer(place: Place) -> None:
    async def look(engine: RemoteEngine, said: list[str]) -> None:
        recorded = await engine.history(LIN, order="newest", after=None, limit=1000, search=None)
        noted = [entry.action for entry in (await engine.operate.audit(limit=1000)).items]
        assert noted.count("ingest") == len(recorded.items) >= len(said)

    asyncio.run(after_death_at("commit.done:5", place, look))


async def after_death_at(point: str, place: Place, look: Callable[[RemoteEngine, list[str]], Awaitable[None]]) -> None:
    """Talk to a server until it dies at a crash point, and ``look`` at what the next one has of it."""
    doomed = await Served.start(place, dies_at=point)
    assert doomed is not None
    acknowledged: list[str] = []
    talking = RemoteEngine(doomed.url)
    try:
        with suppress(ServerUnreachable):
            for number in itertools.count():
                content = f"wort{number}"
                await talking.ingest(LIN, [NewMessage(role="user", content=content)], None)
                acknowledged.append(content)
        assert await doomed.wait() == -signal.SIGKILL
    finally:
        await talking.close()
        await doomed.end()
    server = await Served.start(place)
    assert server is not None
    engine = RemoteEngine(server.url)
    try:
        await look(engine, acknowledged)
    finally:
        await engine.close()
        await server.end()
