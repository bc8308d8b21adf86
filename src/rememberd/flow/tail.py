"""The tail of the feed: what was acknowledged and the index has not applied yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rememberd.model.change import Noun
    from rememberd.ports.storage import Storage

_PAGE = 1000


class Tail(NamedTuple):
    """What changed in a tenant behind a watermark, and where the feed ended."""

    things: set[tuple[Noun, str]]
    head: int


async def unapplied(storage: Storage, tenant: str, watermark: int) -> Tail:
    """New vectors are no part of it: the text is the one that the index knows, and so are the vectors it has."""
    things: set[tuple[Noun, str]] = set()
    while True:
        changes = await storage.feed.read(watermark, _PAGE)
        things |= {
            (change.noun, change.id) for change in changes if change.tenant == tenant and change.operation != "embed"
        }
        if changes:
            watermark = changes[-1].position
        if len(changes) < _PAGE:
            return Tail(things, watermark)
