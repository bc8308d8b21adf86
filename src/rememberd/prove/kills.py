"""``kill -9`` at random moments, and death at every crash point, under load."""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .load import Load
from .scenarios import SCENARIOS
from .served import Served
from .verdict import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from .served import Place
    from .verdict import Verdict

    Advance = Callable[[int, int | None], None]

CLIENTS = 8
PATIENCE = 30.0  # seconds from its start until a server that was killed has to be ready, on a busy machine
_UNDER_LOAD = 0.2  # seconds within which, after the first acknowledgement, the kill comes
_REACHED_WITHIN = 30.0


@dataclass(slots=True)
class _Tally:
    """What a series of deaths cost."""

    ready_within: float
    tries: int = 0
    lost: set[str] = field(default_factory=set)
    duplicated: set[str] = field(default_factory=set)
    disordered: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    took_alone: list[float] = field(default_factory=list)

    def add(self, verdict: Verdict) -> None:
        self.lost.update(verdict.lost)
        self.duplicated.update(verdict.duplicated)
        self.disordered.update(verdict.disordered)

    def recovered(self, server: Served) -> None:
        alone = server.took - server.queued
        self.took.append(server.took)
        self.took_alone.append(alone)
        if alone > self.ready_within:
            self.failures.append(f"ready again after {alone:.1f} s, not within {self.ready_within:.0f} s")

    def row(self, fault: str, acknowledged: int) -> Row:
        return Row(
            fault=fault,
            tries=self.tries,
            acknowledged=acknowledged,
            lost=tuple(sorted(self.lost)),
            duplicated=tuple(sorted(self.duplicated)),
            disordered=tuple(sorted(self.disordered)),
            failures=tuple(self.failures),
            ready_again=max(self.took, default=None),
            ready_alone=max(self.took_alone, default=None),
        )


async def random_kills(
    place: Place,
    random: Random,
    times: int,
    *,
    seconds: float | None = None,
    ready_within: float = PATIENCE,
    advance: Advance | None = None,
) -> Row:
    """Kill a server ``times`` times, or as often as fits into ``seconds``, while clients talk to it."""
    tally, deadline = _Tally(ready_within), time.monotonic() + (seconds or float("inf"))
    server = await _start(place)
    load = Load(server.url, CLIENTS, "kills")
    try:
        async with load.talking():
            while tally.tries < times and time.monotonic() < deadline:
                await load.one_more()
                await asyncio.sleep(random.uniform(0, _UNDER_LOAD))
                await server.end()
                server = await _start(place, server.port, tally=tally)
                tally.tries += 1
                tally.add(await load.judge_newest())
                if advance:
                    advance(tally.tries, times)
        tally.add(await load.judge_all())
    finally:
        await server.end()
        await load.close()
    return tally.row("kill -9 at a random moment", len(load.acknowledged))


async def crashes(
    place: Place,
    random: Random,
    points: Sequence[str],
    *,
    seconds: float | None = None,
    ready_within: float = PATIENCE,
    advance: Advance | None = None,
) -> Row:
    """Have one server after another die at these crash points, or as many as fit into ``seconds``, under load."""
    tally, deadline = _Tally(ready_within), time.monotonic() + (seconds or float("inf"))
    server = await _start(place)
    load = Load(server.url, CLIENTS, "-".join(dict.fromkeys(points)))
    try:
        async with load.talking():
            await load.one_more()
            await server.end()
            for point in points:
                if time.monotonic() > deadline:
                    break
                await _die_at(point, place, random, server.port, tally)
                if advance:
                    advance(tally.tries, len(points))
            server = await _start(place, server.port, tally=tally)
        tally.add(await load.judge_all())
    finally:
        await server.end()
        await load.close()
    fault = f"death at {points[0]}" if len(set(points)) == 1 else "death at a crash point"
    return tally.row(fault, len(load.acknowledged))


async def _die_at(point: str, place: Place, random: Random, port: int, tally: _Tally) -> None:
    scenario, passage = SCENARIOS[point], random.randint(1, SCENARIOS[point].passages)
    if scenario.prepare:
        await scenario.prepare(place)
    tally.tries += 1
    server = await Served.start(place, port=port, dies_at=f"{point}:{passage}", settings=scenario.settings)
    if server is None:
        await (await _start(place, port, scenario.settings, tally)).end()
        return
    tally.recovered(server)
    try:
        if scenario.provoke:
            await scenario.provoke(server)
        how = await server.wait(_REACHED_WITHIN)
        if how != -signal.SIGKILL:
            tally.failures.append(f"{point} was not reached: the server ended with {how}")
    except TimeoutError:
        tally.failures.append(f"{point}:{passage} was not reached within {_REACHED_WITHIN:.0f} s")
    finally:
        await server.end()


async def _start(
    place: Place, port: int = 0, settings: Mapping[str, str] | None = None, tally: _Tally | None = None
) -> Served:
    """A server that lives; with a ``tally``, one that follows a death."""
    server = await Served.start(place, port=port, settings=settings)
    assert server is not None
    if tally is not None:
        tally.recovered(server)
    return server
