"""What is kept about a thread besides its messages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class WindowRule:
    """How many messages a window holds, and how long after its last use it lives."""

    size: int = 20
    ttl: timedelta = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadState:
    """Owner, length and use of a thread. The window holds messages after ``session_from`` only."""

    tenant: str
    thread: str
    user: str | None
    last_seq: int
    session_from: int
    last_used: datetime

    def is_live(self, ttl: timedelta, now: datetime) -> bool:
        """Whether the session still goes on: used no longer than ``ttl`` ago."""
        return now - self.last_used <= ttl
