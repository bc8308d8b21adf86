"""Messages and memory items as they are now, read by their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from rememberd.model import MemoryItem, Message
from rememberd.model.change import Noun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rememberd.ports.storage import Storage

Thing: TypeAlias = Message | MemoryItem
#: Within a tenant: its noun and its id.
Address: TypeAlias = tuple[Noun, str]


async def read_things(storage: Storage, tenant: str, addresses: Iterable[Address]) -> list[Thing]:
    """Those that there are."""
    ids: dict[Noun, list[str]] = {"message": [], "memory": []}
    for noun, id_ in addresses:
        ids[noun].append(id_)
    messages = await storage.records.messages(tenant, ids["message"])
    return [*messages, *await storage.holdings.get_many(tenant, ids["memory"])]


def by_address(things: Iterable[Thing]) -> dict[Address, Thing]:
    return {("message" if isinstance(thing, Message) else "memory", thing.id): thing for thing in things}


def by_tenant(changed: Iterable[tuple[str, Noun, str]]) -> Mapping[str, list[Address]]:
    """Addresses in several tenants, for each of them."""
    tenants: dict[str, list[Address]] = {}
    for tenant, noun, id_ in changed:
        tenants.setdefault(tenant, []).append((noun, id_))
    return tenants
