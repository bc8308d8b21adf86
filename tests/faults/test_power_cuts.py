"""A power cut takes nothing that was acknowledged; without syncing it does, so this can fail."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from rememberd.prove.cuts import power_cuts, row_of
from rememberd.prove.disk import Delete, Event, Platter, Sync, Truncate, Write

if TYPE_CHECKING:
    from rememberd.prove.served import Place

CUTS = 45


def test_nothing_acknowledged_is_lost_by_power_cuts(place: Place, random: Random) -> None:
    row = row_of(asyncio.run(power_cuts(place, random, CUTS)))
    assert row.passed, row
    assert row.tries == CUTS
    assert row.acknowledged > CUTS


def test_a_store_that_does_not_sync_loses_in_most_cuts(place: Place, random: Random) -> None:
    careless = replace(place, settings={**place.settings, "database.synchronous": "OFF"})
    cuts = asyncio.run(power_cuts(careless, random, CUTS))
    assert sum(bool(cut.verdict.lost) for cut in cuts) > CUTS / 2
    assert not row_of(cuts).passed


def left_of(*events: Event, fate: str, seed: int = 1) -> dict[str, bytes]:
    platter = Platter()
    for event in events:
        platter.follow(event)
    return platter.after_cut(fate, Random(seed))  # type: ignore[arg-type]


def test_what_was_synced_survives_every_cut() -> None:
    for fate in ("dropped", "kept", "torn"):
        assert left_of(Write("a", 0, b"one"), Sync("a"), fate=fate) == {"a": b"one"}


def test_what_was_not_synced_is_dropped_or_kept() -> None:
    events = (Write("a", 0, b"one"), Sync("a"), Write("a", 3, b"two"), Write("b", 2, b"new"))
    assert left_of(*events, fate="dropped") == {"a": b"one"}
    assert left_of(*events, fate="kept") == {"a": b"onetwo", "b": b"\0\0new"}


def test_a_torn_write_leaves_some_of_its_sectors() -> None:
    events = (Write("a", 0, bytes(2048)), Sync("a"), Write("a", 500, b"x" * 1024))
    left = {left_of(*events, fate="torn", seed=seed)["a"] for seed in range(50)}
    pieces = {(content[500], content[512], content[1024]) for content in left}
    assert len(pieces) == 8  # twelve bytes, a sector and the rest: each there or not


def test_a_deletion_lasts_from_the_next_sync_on() -> None:
    events = (Write("a", 0, b"one"), Sync("a"), Delete("a"))
    assert left_of(*events, fate="dropped") == {"a": b"one"}
    assert left_of(*events, fate="kept") == {}
    assert left_of(*events, Write("b", 0, b"two"), Sync("b"), fate="dropped") == {"b": b"two"}


def test_a_truncation_may_be_lost_until_it_is_synced() -> None:
    events = (Write("a", 0, b"one"), Sync("a"), Truncate("a", 1))
    assert left_of(*events, fate="dropped") == {"a": b"one"}
    assert left_of(*events, fate="kept") == {"a": b"o"}
