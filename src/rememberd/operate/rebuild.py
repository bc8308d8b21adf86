"""Rebuilding: a view made again from the storage, while everything goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rememberd import crash
from rememberd.flow.index import apply_next
from rememberd.model import Progress

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rememberd.ports.index import Index
    from rememberd.ports.parts import Parts

_PATIENCE = 30.0  # seconds in which nobody may write for a moment, so that two views can be compared
_PAUSE = 0.05


async def rebuild_index(parts: Parts, *, verify: bool) -> AsyncGenerator[Progress, None]:
    """The old index serves until the new one has caught up. One that was interrupted goes on where it was."""
    total = await parts.storage.feed.head()
    fresh = await parts.index.successor()
    try:
        await _drop_what_is_ahead(parts.index, total)
        await _drop_what_is_ahead(fresh, total)
        while (reached := await fresh.watermark()) < total:
            yield Progress(reached, total)
            await apply_next(parts.storage, fresh)
            crash.point("rebuild.middle")
        equal = await _compare(parts, fresh) if verify else None
        while not await parts.index.give_way(fresh):
            await apply_next(parts.storage, fresh)
    finally:
        await fresh.close()
    yield Progress(total, total, equal)


async def rebuild_windows(parts: Parts) -> AsyncGenerator[Progress, None]:
    """Windows are made again when they are next read."""
    await parts.windows.clear()
    yield Progress(1, 1)


async def _drop_what_is_ahead(index: Index, head: int) -> None:
    """An index that has applied more than there is belongs to another store."""
    if await index.watermark() > head:
        await index.clear()


async def _compare(parts: Parts, fresh: Index) -> bool | None:
    """Whether both hold the same, when both have applied everything; None if somebody wrote all the time."""
    try:
        async with asyncio.timeout(_PATIENCE):
            while True:
                head = await parts.storage.feed.head()
                while await apply_next(parts.storage, fresh):
                    pass
                digests = await parts.index.digest(), await fresh.digest()
                reached = {
                    await parts.storage.feed.head(), await parts.index.watermark(), await fresh.watermark(), head
                }  # fmt: skip
                if len(reached) == 1:
                    return digests[0] == digests[1]
                parts.nudge(hurry=True)
                await asyncio.sleep(_PAUSE)
    except TimeoutError:
        return None
