"""API keys: what lets callers in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from rememberd.model import ApiKey

from .storage import Write


@dataclass(frozen=True, slots=True)
class AddApiKey(Write[None]):
    """Store an API key; only its digest is in it."""

    api_key: ApiKey


@dataclass(frozen=True, slots=True)
class RevokeApiKey(Write[bool]):
    """Revoke an API key. False if there is none of that id, or it was revoked before."""

    id: str
    at: datetime


class ApiKeys(Protocol):
    async def get(self, api_key_id: str) -> ApiKey | None:
        """An API key, revoked ones included, or None."""
        ...

    async def list(self) -> list[ApiKey]:
        """All of them, oldest first."""
        ...
