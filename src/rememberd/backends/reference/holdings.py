"""Holdings on tables in this process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rememberd.errors import IdempotencyConflict, StaleRevision
from rememberd.model import Filters, MemoryItem, Operation, Scope

from .tables import Committed, FirstUse, Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from rememberd.ports.holdings import Put


def put(tables: Tables, operation: Put) -> MemoryItem:
    first = _first_use(tables, operation)
    if first is not None:
        return first
    item = operation.item
    revisions = tables.memories.get((item.tenant, item.id), ())
    if item.revision != len(revisions) + 1:
        raise StaleRevision(f"{item.id!r} is at revision {len(revisions)}, so {item.revision} cannot follow")
    change: Operation = "delete" if item.deleted else "put"
    stored = replace(item, position=tables.announce(item.tenant, "memory", item.id, change))
    tables.memories[item.tenant, item.id] = (*revisions, stored)
    if operation.idempotency_key is not None:
        tables.idempotency_keys[item.tenant, operation.idempotency_key] = FirstUse(operation.digest, stored)
    return stored


@dataclass(frozen=True, slots=True)
class ReferenceHoldings:
    committed: Committed

    async def get(self, tenant: str, memory_id: str) -> MemoryItem | None:
        return _current(self._revisions(tenant, memory_id))

    async def get_many(self, tenant: str, ids: Sequence[str], as_of: datetime | None = None) -> list[MemoryItem]:
        found = (_current(self._revisions(tenant, each), as_of) for each in dict.fromkeys(ids))
        return [item for item in found if item is not None and not item.deleted]

    async def as_of(self, scope: Scope, moment: datetime, limit: int) -> list[MemoryItem]:
        return _newest(self._seen_by(scope, moment), limit)

    async def versions(self, tenant: str, memory_id: str) -> list[MemoryItem]:
        return list(self._revisions(tenant, memory_id))

    async def count(self, tenant: str | None) -> int:
        items = (revisions[-1] for revisions in self.committed.tables.memories.values())
        return sum(not item.deleted and (tenant is None or item.tenant == tenant) for item in items)

    async def list(
        self, scope: Scope, filters: Filters, *, after: int | None, limit: int, now: datetime
    ) -> list[MemoryItem]:
        listed = (
            item
            for item in self._seen_by(scope, None)
            if not item.expired_at(now) and filters.admits(item) and (after is None or item.position < after)
        )
        return _newest(listed, limit)

    def _revisions(self, tenant: str, memory_id: str) -> tuple[MemoryItem, ...]:
        return self.committed.tables.memories.get((tenant, memory_id), ())

    def _seen_by(self, scope: Scope, moment: datetime | None) -> Iterator[MemoryItem]:
        for revisions in self.committed.tables.memories.values():
            item = _current(revisions, moment)
            if (
                item is not None
                and not item.deleted
                and item.tenant == scope.tenant
                and scope.sees(item.user, item.agent)
            ):
                yield item


def _first_use(tables: Tables, operation: Put) -> MemoryItem | None:
    """The item that the operation's idempotency key was first used for."""
    key = operation.idempotency_key
    first = tables.idempotency_keys.get((operation.item.tenant, key)) if key is not None else None
    if first is None:
        return None
    if first.digest != operation.digest or not isinstance(first.stored, MemoryItem):
        raise IdempotencyConflict(f"the idempotency key {key!r} was used for something else")
    return first.stored


def _current(revisions: Sequence[MemoryItem], moment: datetime | None = None) -> MemoryItem | None:
    """The last revision, or the last one that had been made by ``moment``."""
    made = [item for item in revisions if moment is None or item.revised_at <= moment]
    return made[-1] if made else None


def _newest(items: Iterator[MemoryItem], limit: int) -> list[MemoryItem]:
    return sorted(items, key=lambda item: item.position, reverse=True)[:limit]
