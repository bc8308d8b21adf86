"""Holdings: things with revisions. So far memory items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rememberd.model import Filters, MemoryItem, Scope

from .storage import Write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Put(Write[MemoryItem]):
    """Store a revision: one more than the stored one (1 for a new id), else ``StaleRevision``.

    The earlier revisions are kept. A deleted item can be put again by its next revision.
    Idempotency keys are the tenant's, shared with ``Append``, and looked at before the revision.
    A known idempotency key with the same digest answers the revision that its first use stored, and
    stores nothing; with another digest it raises ``IdempotencyConflict``.
    """

    item: MemoryItem
    idempotency_key: str | None = None
    digest: bytes = b""


class Holdings(Protocol):
    async def get(self, tenant: str, memory_id: str) -> MemoryItem | None:
        """The current revision, deleted ones included, or None."""
        ...

    async def get_many(self, tenant: str, ids: Sequence[str], as_of: datetime | None = None) -> list[MemoryItem]:
        """The current revisions of those that exist and are not deleted, in no particular order.

        With ``as_of``: the revisions that were current then.
        """
        ...

    async def as_of(self, scope: Scope, moment: datetime, limit: int) -> list[MemoryItem]:
        """The revisions that were current at ``moment`` of what ``scope`` sees, newest first; no deleted ones."""
        ...

    async def versions(self, tenant: str, memory_id: str) -> list[MemoryItem]:
        """Every revision, oldest first; empty if there never was such an item."""
        ...

    async def count(self, tenant: str | None) -> int:
        """How many items a tenant has that are not deleted; all tenants' when None."""
        ...

    async def list(
        self, scope: Scope, filters: Filters, *, after: int | None, limit: int, now: datetime
    ) -> list[MemoryItem]:
        """The items that ``scope`` sees, newest change first, below position ``after``; no deleted or expired ones.

        The scope's thread does not narrow it; that of the filters does.
        """
        ...
