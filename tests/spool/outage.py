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
def locked(folder: Path) -> Iterator[None]:
    """Another connection holds ``BEGIN EXCLUSIVE``."""
    holder = apsw.Connection(str(folder / "memory.db"))
    holder.set_busy_timeout(5000)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


@contextmanager
def refusing(folder: Path, condition: str, sql: str = "json_extract('not json', '$.x')") -> Iterator[None]:
    """The storage refuses the messages that meet a condition, and no others."""
    meddler = apsw.Connection(str(folder / "memory.db"))
    meddler.set_busy_timeout(5000)
    meddler.execute(f"CREATE TRIGGER poison BEFORE INSERT ON messages WHEN {condition} BEGIN SELECT {sql}; END")
    try:
        yield
    finally:
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
