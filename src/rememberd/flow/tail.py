"""The tail of the feed: what was acknowledged and the index has not applied yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rememberd.model.change import Noun
    from rememberd.ports.storage import Storage

_PAGE = 1000


async def unapplied(storage: Storage, tenant: str, watermark: int) -> set[tuple[Noun, str]]:
    """What changed in a tenant behind the watermark."""
    ids: set[tuple[Noun, str]] = set()
    while True:
        changes = await storage.feed.read(watermark, _PAGE)
        ids |= {(change.noun, change.id) for change in changes if change.tenant == tenant}
        if len(changes) < _PAGE:
            return ids
        watermark = changes[-1].position
