"""A server that is killed has lost nothing that it acknowledged; ``make faults`` does this some hundreds of times."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rememberd.prove.kills import SCENARIOS, crashes, random_kills

if TYPE_CHECKING:
    from random import Random

    from rememberd.prove.served import Place

pytestmark = pytest.mark.slow


def test_nothing_acknowledged_is_lost_by_kills_at_random_moments(place: Place, random: Random) -> None:
    row = asyncio.run(random_kills(place, random, 3))
    assert row.passed, row
    assert row.tries == 3
    assert row.acknowledged >= 3


def test_nothing_acknowledged_is_lost_by_death_at_any_crash_point(place: Place, random: Random) -> None:
    row = asyncio.run(crashes(place, random, list(SCENARIOS)))
    assert row.passed, row
    assert row.tries == len(SCENARIOS)
