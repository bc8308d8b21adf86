"""What could not be written: calls that wait for the storage, and dead letters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .message import Message

FailureState = Literal["waiting", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A call in the spool (``waiting``) or a dead letter (``dead``), with its last refusal, if there was one.

    ``action`` is what was called, as the audit log has it. ``count`` is how many messages it has; they themselves are
    told only where one failure is asked for.
    """

    id: str
    state: FailureState
    tenant: str
    user: str | None
    thread: str
    action: str
    count: int
    attempts: int
    reason: str | None
    detail: str | None
    first_at: datetime
    last_at: datetime | None
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainRule:
    """How the spool is drained: so many calls at once, and longer pauses after each failure."""

    batch_size: int = 100
    max_attempts: int = 5
    first_pause: float = 0.5
    longest_pause: float = 10.0

    def pause_after(self, failures: int) -> float:
        return min(self.longest_pause, self.first_pause * 2.0 ** min(failures - 1, 30))
