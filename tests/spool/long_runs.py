"""The long outages, for ``make outages``: the same stories as in the tests beside, with more of everything."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from .killed import kill_under_load
from .servers import OwnPostgreSQL
from .test_load import spool_through_restarts

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_ten_thousand_messages_spooled_through_two_restarts_are_recorded_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    took = spool_through_restarts(tmp_path, 10_000)
    with capsys.disabled():
        sys.stdout.write(f"10,000 spooled messages were recorded {took:.1f} s after the storage was back\n")
    assert took < 60


def test_a_postgresql_killed_twenty_times_under_load_loses_nothing(tmp_path: Path) -> None:
    server = OwnPostgreSQL()
    try:
        row = asyncio.run(kill_under_load(server, server.fresh_database(), tmp_path, cycles=20))
    finally:
        server.stop()
    assert row.passed, row
