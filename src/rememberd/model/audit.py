"""One line of the audit log: who did what to which scope, and how it ended. Never the content."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    id: str
    at: datetime
    tenant: str
    actor: str
    action: str
    user: str | None = None
    thread: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
