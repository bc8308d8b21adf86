"""Memory items: what is worth keeping beyond its thread, with every revision."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A memory item as a caller hands it in."""

    text: str
    kind: str = "fact"
    source: str | None = None
    importance: float = 0.5
    topic: str | None = None
    domain: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPatch:
    """The fields of a memory item that a revision changes; what is None stays as it was."""

    text: str | None = None
    kind: str | None = None
    source: str | None = None
    importance: float | None = None
    topic: str | None = None
    domain: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """One revision of a memory item. ``at`` is when the item was first added, ``revised_at`` when this revision was."""

    id: str
    revision: int
    tenant: str
    user: str | None
    agent: str | None
    thread: str | None
    kind: str
    text: str
    source: str | None
    importance: float
    topic: str | None
    domain: str | None
    at: datetime
    revised_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    deleted: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    position: int = 0

    @property
    def scope(self) -> Scope:
        return Scope(self.tenant, self.user, self.agent, self.thread)

    def holds_at(self, now: datetime) -> bool:
        """Whether the item is said to be true at ``now``."""
        return (self.valid_from is None or self.valid_from <= now) and (
            self.valid_until is None or now < self.valid_until
        )

    def expired_at(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now
