"""The audit log on a list in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .tables import Committed, Tables

if TYPE_CHECKING:
    from rememberd.model import AuditEntry
    from rememberd.ports.audit import Note


def note(tables: Tables, operation: Note) -> None:
    tables.audit.append(operation.entry)


@dataclass(frozen=True, slots=True)
class ReferenceAudit:
    committed: Committed

    async def list(self, tenant: str | None, *, before: str | None, limit: int) -> list[AuditEntry]:
        entries = (
            entry
            for entry in self.committed.tables.audit
            if (tenant is None or entry.tenant == tenant) and (before is None or entry.id < before)
        )
        return sorted(entries, key=lambda entry: entry.id, reverse=True)[:limit]
