"""Background work that is not a view: owed since the transaction that caused it, leased while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

JobState = Literal["waiting", "running", "done", "dead", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """``lease`` names the worker's claim; only its holder may end the job."""

    id: str
    tenant: str
    task: str
    payload: dict[str, Any] = field(default_factory=dict)
    state: JobState = "waiting"
    due_at: datetime
    created_at: datetime
    attempts: int = 0
    max_attempts: int = 5
    lease: str | None = None
    leased_until: datetime | None = None
    error: str | None = None
