"""The audit log: one entry per call, written with what it tells of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rememberd.model import AuditEntry

from .storage import Write


@dataclass(frozen=True, slots=True)
class Note(Write[None]):
    """Append an audit entry."""

    entry: AuditEntry


class Audit(Protocol):
    async def list(self, tenant: str | None, *, before: str | None, limit: int) -> list[AuditEntry]:
        """Entries of a tenant (of all, when None) with ids below ``before``, newest first."""
        ...
