"""``make faults``: every fault in large numbers. Writes down what each cost, for the table in the documentation.

``python -m tests.faults.full [PART …]`` does some parts only, and leaves the other rows as they were.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from rememberd.prove import Place, Row
from rememberd.prove.cuts import power_cuts, row_of
from rememberd.prove.drops import dropped_replies
from rememberd.prove.isolation import isolation
from rememberd.prove.kills import crashes, random_kills
from rememberd.prove.refusals import refusals
from rememberd.prove.scenarios import SCENARIOS
from tests import postgres
from tests.spool.killed import kill_under_load
from tests.spool.servers import OwnPostgreSQL
from tests.spool.test_load import spool_through_restarts

from .conftest import WITHOUT_MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

RESULTS = Path(__file__).parents[2] / "docs" / "reference" / "faults.json"

KILLS = 500
KILLS_BESIDE_POSTGRESQL = 50
KILLS_OF_POSTGRESQL = 20
SPOOLED = 10_000
DRAINED_WITHIN = 60.0  # seconds after the storage is back
DEATHS = 20  # at each crash point
READY_WITHIN = 5.0  # seconds, of a server after the death of the one before, not counting those without a core
CUTS = 300
REPLIES = 10_000
REFUSALS = 300


@dataclass(frozen=True, slots=True)
class Result:
    """A row of the table. A control has to lose, in more than half of its tries: it shows that losing is noticed."""

    row: Row
    lost_in: int = 0
    is_control: bool = False

    @property
    def is_as_it_should_be(self) -> bool:
        return self.lost_in > self.row.tries / 2 if self.is_control else self.row.passed

    def written(self, seconds: float) -> dict[str, Any]:
        row = self.row
        counts = {what: len(getattr(row, what)) for what in ("lost", "duplicated", "disordered", "leaked")}
        told = {"tries": row.tries, "acknowledged": row.acknowledged, **counts}
        ready = {"ready_again": row.ready_again, "ready_alone": row.ready_alone}
        busy = round(os.getloadavg()[0] / (os.cpu_count() or 1), 1)  # processes that wanted a core, for each core
        judged = {"lost_in": self.lost_in, "control": self.is_control}
        return {**told, **ready, **judged, "seconds": round(seconds), "busy": busy}


async def kills(place: Place, random: Random) -> Result:
    return Result(await random_kills(place, random, KILLS, ready_within=READY_WITHIN))


async def kills_beside_postgresql(place: Place, random: Random) -> Result:
    url = await asyncio.to_thread(lambda: postgres.server().fresh_database())
    beside = Place(place.folder, {**place.settings, "database.dsn": url})
    return Result(await random_kills(beside, random, KILLS_BESIDE_POSTGRESQL, ready_within=READY_WITHIN))


async def kills_of_postgresql(place: Place, random: Random) -> Result:
    server = await asyncio.to_thread(OwnPostgreSQL)
    try:
        url = await asyncio.to_thread(server.fresh_database)
        return Result(await kill_under_load(server, url, place.folder, KILLS_OF_POSTGRESQL))
    finally:
        await asyncio.to_thread(server.stop)


async def spooled(place: Place, random: Random) -> Result:
    """Whatever is lost, doubled or out of order ends it."""
    took = await asyncio.to_thread(spool_through_restarts, place.folder, SPOOLED)
    late = () if took < DRAINED_WITHIN else (f"recorded {took:.0f} s after the storage was back",)
    return Result(Row(fault="storage out of reach", tries=1, acknowledged=SPOOLED, failures=late, ready_again=took))


def deaths(point: str) -> Callable[[Place, Random], Coroutine[Any, Any, Result]]:
    async def die(place: Place, random: Random) -> Result:
        return Result(await crashes(place, random, [point] * DEATHS, ready_within=READY_WITHIN))

    return die


def cuts(synchronous: str) -> Callable[[Place, Random], Coroutine[Any, Any, Result]]:
    async def cut(place: Place, random: Random) -> Result:
        made = await power_cuts(
            Place(place.folder, {**place.settings, "database.synchronous": synchronous}), random, CUTS
        )
        lost_in = sum(bool(one.verdict.lost) for one in made)
        return Result(row_of(made), lost_in, is_control=synchronous != "FULL")

    return cut


async def replies(place: Place, random: Random) -> Result:
    return Result(await dropped_replies(place, REPLIES))


async def refused(place: Place, random: Random) -> Result:
    return Result(await refusals(place, REFUSALS))


async def reaches(place: Place, random: Random) -> Result:
    return Result(await isolation(place))


#: THE table of faults; its keys are what the documentation calls them.
FAULTS: dict[str, Callable[[Place, Random], Coroutine[Any, Any, Result]]] = {
    "kill -9 at a random moment": kills,
    "kill -9 at a random moment, storage on PostgreSQL": kills_beside_postgresql,
    "PostgreSQL killed with -9": kills_of_postgresql,
    f"storage locked for {SPOOLED:,} messages, server restarted twice": spooled,
    **{f"death at `{point}`": deaths(point) for point in SCENARIOS},
    "power cut": cuts("FULL"),
    "write or sync refused by the disk": refused,
    "reply dropped, request repeated": replies,
    "reach for another's memory": reaches,
    "control: power cut with `synchronous: OFF`": cuts("OFF"),
}


def main(chosen: list[str]) -> int:
    failed = []
    for fault, make in FAULTS.items():
        if chosen and not any(word in fault for word in chosen):
            continue
        sys.stderr.write(f"{fault} … ")
        sys.stderr.flush()
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="rememberd-faults-") as folder:
            result = asyncio.run(make(Place(Path(folder), WITHOUT_MODELS), Random(len(fault))))
        _keep(fault, result.written(time.monotonic() - began))
        sys.stderr.write("ok\n" if result.is_as_it_should_be else f"NOT AS IT SHOULD BE: {_short(result.row)}\n")
        failed += [] if result.is_as_it_should_be else [fault]
    if postgres.was_started():
        postgres.server().stop()
    return 1 if failed else 0


def _short(row: Row) -> str:
    found = {what: getattr(row, what) for what in ("lost", "duplicated", "disordered", "leaked", "failures")}
    return "; ".join(f"{len(ids):,} {what}, such as {ids[0]}" for what, ids in found.items() if ids)


def _keep(fault: str, written: dict[str, Any]) -> None:
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    kept[fault] = written
    ordered = {name: kept[name] for name in FAULTS if name in kept}
    RESULTS.write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
