"""Vectors on a dict in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .tables import Committed, Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.ports.vectors import PutVectors, Vector


def put_vectors(tables: Tables, operation: PutVectors) -> None:
    for vector in operation.vectors:
        tables.vectors[vector.tenant, vector.noun, vector.id, vector.lane] = vector
    for tenant, noun, thing in dict.fromkeys((v.tenant, v.noun, v.id) for v in operation.vectors):
        tables.announce(tenant, noun, thing, "embed")


@dataclass(frozen=True, slots=True)
class ReferenceVectors:
    committed: Committed

    async def get(self, tenant: str, ids: Sequence[str]) -> list[Vector]:
        return [
            vector for vector in self.committed.tables.vectors.values() if vector.tenant == tenant and vector.id in ids
        ]
