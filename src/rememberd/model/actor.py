"""Who calls: the bearer of an API key, or the process that holds the folder."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Actor:
    """``tenant`` bounds what the actor may touch; an operator may touch every tenant and the operator's calls."""

    name: str
    tenant: str | None = None
    operator: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What lets a caller in. Only a digest of its secret is stored."""

    id: str
    digest: str
    tenant: str | None
    operator: bool
    created_at: datetime
    revoked_at: datetime | None = None

    @property
    def actor(self) -> Actor:
        return Actor(name=f"api-key:{self.id}", tenant=self.tenant, operator=self.operator)


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A fresh API key; ``token`` is shown this once and never stored."""

    id: str
    token: str
    tenant: str | None
    operator: bool
