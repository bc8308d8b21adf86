"""What the in-process windows promise beyond the port: they do hold, up to their capacity."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rememberd.backends.reference import ReferenceWindows
from rememberd.model import ThreadState, WindowRule
from rememberd.ports.windows import HeldWindow

if TYPE_CHECKING:
    from .conftest import Drive

RULE = WindowRule()
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_windows_are_held_up_to_the_capacity(drive: Drive) -> None:
    windows = ReferenceWindows(capacity=2)
    assert drive(_held_after_putting(windows, "a", "b", "c")) == ["b", "c"]


def test_a_window_that_was_used_stays_before_one_that_was_not(drive: Drive) -> None:
    windows = ReferenceWindows(capacity=2)
    drive(_held_after_putting(windows, "a", "b"))
    drive(windows.touch("acme", "a", NOW))
    assert drive(_held_after_putting(windows, "c")) == ["a", "c"]


def test_without_capacity_nothing_is_held(drive: Drive) -> None:
    assert drive(_held_after_putting(ReferenceWindows(capacity=0), "a")) == []


async def _held_after_putting(windows: ReferenceWindows, *threads: str) -> list[str]:
    for thread in threads:
        state = ThreadState(tenant="acme", thread=thread, user=None, last_seq=1, session_from=0, last_used=NOW)
        await windows.put(HeldWindow(state, ()), RULE)
    return [thread for thread in ("a", "b", "c") if await windows.get("acme", thread)]
