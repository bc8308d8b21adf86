"""Vectors on dicts in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rememberd.errors import Conflict, NotFound
from rememberd.ports.vectors import Space, served, wanted

from .tables import Committed, Tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rememberd.ports.vectors import DropVectors, PutVectors, Serve, SpaceState, Vector, Want


def put_vectors(tables: Tables, operation: PutVectors) -> None:
    changed = []
    for vector in operation.vectors:
        address = (vector.tenant, vector.noun, vector.id, vector.space)
        if vector.data:
            tables.vectors[address] = vector
            changed.append(vector)
        elif tables.vectors.pop(address, None) is not None:
            changed.append(vector)
    _announce(tables, changed)


def want(tables: Tables, operation: Want) -> None:
    tables.spaces = wanted(tables.spaces, operation.spaces)


def serve(tables: Tables, operation: Serve) -> bool:
    after = served(tables.spaces, operation.coming)
    if after is None:
        return False
    tables.spaces = after
    return True


def drop_vectors(tables: Tables, operation: DropVectors) -> int:
    space = Space(operation.lane, operation.model)
    state = tables.spaces.get(space)
    if state is None:
        raise NotFound(f"there are no vectors of {space.name}")
    if state != "kept":
        raise Conflict(f"the vectors of {space.name} are {state}, so they cannot be dropped")
    dropped = [address for address in tables.vectors if address[-1] == space.name][: operation.limit]
    _announce(tables, [tables.vectors.pop(address) for address in dropped])
    if len(dropped) < operation.limit:
        del tables.spaces[space]
        tables.followers.pop(space.follower, None)
    return len(dropped)


def _announce(tables: Tables, vectors: Iterable[Vector]) -> None:
    for tenant, noun, thing in dict.fromkeys((vector.tenant, vector.noun, vector.id) for vector in vectors):
        tables.announce(tenant, noun, thing, "embed")


@dataclass(frozen=True, slots=True)
class ReferenceVectors:
    committed: Committed

    async def get(self, tenant: str, ids: Sequence[str]) -> list[Vector]:
        return [
            vector for vector in self.committed.tables.vectors.values() if vector.tenant == tenant and vector.id in ids
        ]

    async def spaces(self) -> dict[Space, SpaceState]:
        found = self.committed.tables.spaces
        return {space: found[space] for space in sorted(found, key=lambda space: (space.lane, space.model))}
