"""API keys on a dict in this process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .tables import Committed, Tables

if TYPE_CHECKING:
    from rememberd.model import ApiKey
    from rememberd.ports.api_keys import AddApiKey, RevokeApiKey


def add(tables: Tables, operation: AddApiKey) -> None:
    tables.api_keys[operation.api_key.id] = operation.api_key


def revoke(tables: Tables, operation: RevokeApiKey) -> bool:
    api_key = tables.api_keys.get(operation.id)
    if api_key is None or api_key.revoked_at is not None:
        return False
    tables.api_keys[operation.id] = replace(api_key, revoked_at=operation.at)
    return True


@dataclass(frozen=True, slots=True)
class ReferenceApiKeys:
    committed: Committed

    async def get(self, api_key_id: str) -> ApiKey | None:
        return self.committed.tables.api_keys.get(api_key_id)

    async def list(self) -> list[ApiKey]:
        return sorted(self.committed.tables.api_keys.values(), key=lambda api_key: (api_key.created_at, api_key.id))
