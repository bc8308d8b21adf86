"""Rebuilding: a view dropped and made again from the storage, while everything goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.flow.index import apply_next
from rememberd.model import Progress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rememberd.ports.parts import Parts


async def rebuild_index(parts: Parts) -> AsyncIterator[Progress]:
    """What the index does not hold meanwhile, recall reads from the tail of the feed."""
    total = await parts.storage.feed.head()
    await parts.index.clear()
    yield Progress(0, total)
    while await apply_next(parts.storage, parts.index):
        yield Progress(min(await parts.index.watermark(), total), total)
    yield Progress(total, total)


async def rebuild_windows(parts: Parts) -> AsyncIterator[Progress]:
    """Windows are made again when they are next read."""
    await parts.windows.clear()
    yield Progress(1, 1)
