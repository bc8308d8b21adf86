"""What was said: messages before and after they are recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Role = Literal["user", "assistant", "system", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message as a caller hands it in. ``at`` is when it was said; none means now."""

    role: Role
    content: str
    name: str | None = None
    at: datetime | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A recorded message. ``seq`` counts 1, 2, 3 … within its thread; ``position`` is its place in the feed.

    Both are 0 while the message waits in the spool.
    """

    id: str
    tenant: str
    thread: str
    seq: int
    user: str | None
    agent: str | None
    role: Role
    name: str | None
    content: str
    at: datetime
    recorded_at: datetime
    metadata: dict[str, Any] = field(default_factory=dict)
    position: int = field(default=0, compare=False)
