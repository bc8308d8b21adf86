"""Settling: waiting until everything acknowledged is searchable."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rememberd.flow.embed import FOLLOWER
from rememberd.model import Settled

if TYPE_CHECKING:
    from rememberd.ports.parts import Parts

_PAUSE = 0.01


async def settle(parts: Parts, timeout: float) -> Settled:
    """What waits in the spool first; then vectors, since storing them is a change that the index has to apply too."""
    try:
        async with asyncio.timeout(timeout):
            while parts.spool.usage().waiting:
                await _wait(parts)
            acknowledged = await parts.storage.feed.head()
            while parts.embedders and await parts.storage.feed.reached(FOLLOWER) < acknowledged:
                await _wait(parts)
            acknowledged = await parts.storage.feed.head()
            while await parts.index.watermark() < acknowledged:
                await _wait(parts)
    except TimeoutError:
        return Settled(False, parts.degraded)
    return Settled(True, parts.degraded)


async def _wait(parts: Parts) -> None:
    parts.nudge(hurry=True)
    await asyncio.sleep(_PAUSE)
