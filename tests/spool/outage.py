"""A folder whose storage cannot be written for a while: another connection holds it, or it has run out of pages."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_TRIGGER = "CREATE TRIGGER poison BEFORE INSERT ON messages WHEN {} BEGIN SELECT json_extract('no json', '$.x'); END"

#: Short pauses: a test has no time to wait.
QUICK = {
    "failure_queue__first_pause": 0.02,
    "failure_queue__longest_pause": 0.1,
    "database__synchronous": "OFF",
    "database__lock_timeout": 0.1,
}


def quick_store(folder: Path, **settings: Any) -> Store:
    return Store("folder", folder, plain_settings(**{**QUICK, **settings}))


@contextmanager
def locked(folder: Path, poison: str | None = None) -> Iterator[None]:
    """Another connection holds ``BEGIN EXCLUSIVE``; when it lets go, the storage refuses what ``poison`` says."""
    holder = apsw.Connection(str(folder / "memory.db"))
    holder.set_busy_timeout(5000)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        if poison is not None:
            holder.execute(_TRIGGER.format(poison))
        holder.execute("COMMIT")
        holder.close()


def poisoned(folder: Path, condition: str) -> None:
    """From now on the storage refuses the messages that meet a condition, and no others."""
    with locked(folder, condition):
        pass


def cured(folder: Path) -> None:
    """The storage refuses nothing any more."""
    meddler = apsw.Connection(str(folder / "memory.db"))
    meddler.set_busy_timeout(5000)
    meddler.execute("DROP TRIGGER poison")
    meddler.close()


def wait_until(store: Store, holds: Callable[[], bool], patience: float = 20.0) -> None:
    until = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < until, "it took too long"
        store.run(asyncio.sleep(0.01))


def drained(store: Store) -> None:
    """Wait until nothing waits."""
    wait_until(store, lambda: store.parts.spool.usage().waiting == 0)
