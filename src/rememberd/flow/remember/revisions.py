"""The revisions of a memory item, as pure functions."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from rememberd.model import KINDS, MemoryItem, MemoryPatch, NewMemory, Scope

if TYPE_CHECKING:
    from datetime import datetime


def first_revision(scope: Scope, memory: NewMemory, memory_id: str, now: datetime) -> MemoryItem:
    """A new memory item; its kind says when it expires, unless it says so itself."""
    ttl = KINDS[memory.kind].ttl
    return MemoryItem(
        id=memory_id,
        revision=1,
        tenant=scope.tenant,
        user=scope.user,
        agent=scope.agent,
        thread=scope.thread,
        kind=memory.kind,
        text=memory.text,
        source=memory.source,
        importance=memory.importance,
        topic=memory.topic,
        domain=memory.domain,
        at=now,
        revised_at=now,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        expires_at=memory.expires_at or (now + ttl if ttl else None),
        metadata=memory.metadata,
    )


def next_revision(item: MemoryItem, patch: MemoryPatch, now: datetime) -> MemoryItem:
    """The item with the patch's fields changed."""
    changes: dict[str, Any] = {
        field.name: value for field in fields(patch) if (value := getattr(patch, field.name)) is not None
    }
    return replace(item, **changes, revision=item.revision + 1, revised_at=now, deleted=False)


def deleted(item: MemoryItem, now: datetime) -> MemoryItem:
    """The revision that says the item is gone."""
    return replace(item, revision=item.revision + 1, revised_at=now, deleted=True)
