"""Audit: what is noted of a call. Ids, counts and outcomes; never content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rememberd.model import Actor, AuditEntry, Scope
from rememberd.ports.audit import Note

if TYPE_CHECKING:
    from datetime import datetime


def note_of(entry_id: str, actor: Actor, action: str, scope: Scope, at: datetime, **detail: Any) -> Note:
    return Note(
        AuditEntry(
            id=entry_id,
            at=at,
            tenant=scope.tenant,
            actor=actor.name,
            action=action,
            user=scope.user,
            thread=scope.thread,
            detail=detail,
        )
    )
