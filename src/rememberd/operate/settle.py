"""Settling: waiting until everything acknowledged is searchable."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rememberd.model import Settled

if TYPE_CHECKING:
    from rememberd.ports.parts import Parts
    from rememberd.ports.vectors import Space

_PAUSE = 0.01


async def settle(parts: Parts, timeout: float) -> Settled:
    """Vectors first, since storing them is a change that the index has to apply too.

    A lane whose model was never set up is not waited for; one that fails, or whose model changes, is.
    """
    try:
        async with asyncio.timeout(timeout):
            acknowledged = await parts.storage.feed.head()
            while await _embedded(parts) < acknowledged:
                await _wait(parts)
            acknowledged = await parts.storage.feed.head()
            while await parts.index.watermark() < acknowledged:
                await _wait(parts)
    except TimeoutError:
        return Settled(False, parts.degraded + parts.lanes.missing())
    return Settled(True, parts.degraded + parts.lanes.missing())


async def _embedded(parts: Parts) -> float:
    """How far every lane that queries go by has come."""
    reached = [
        await parts.storage.feed.reached(space.follower)
        for space, state in parts.lanes.states.items()
        if state in ("serving", "going") and _is_awaited(parts, space)
    ]
    return min(reached, default=float("inf"))


def _is_awaited(parts: Parts, space: Space) -> bool:
    embedder = parts.lanes.embedder_of(space)
    return bool(parts.lanes.coming) if embedder is None else embedder.absent is None


async def _wait(parts: Parts) -> None:
    parts.nudge(hurry=True)
    await asyncio.sleep(_PAUSE)
