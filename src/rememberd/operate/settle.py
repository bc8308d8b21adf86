"""Settling: waiting until everything acknowledged is searchable."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rememberd.model import Settled

if TYPE_CHECKING:
    from rememberd.ports.parts import Parts

_PAUSE = 0.01


async def settle(parts: Parts, timeout: float) -> Settled:
    """What waits in the spool first; then vectors, since storing them is a change that the index has to apply too.

    A lane whose model was never set up is not waited for; one that fails, or whose model changes, is.
    """
    try:
        async with asyncio.timeout(timeout):
            while parts.spool.usage().waiting:
                await _wait(parts)
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
    lanes = parts.lanes
    if lanes.wanted and not parts.storage.exclusive:
        await lanes.look()
    least = float("inf")
    for space, state in lanes.states.items():
        embedder = lanes.embedder_of(space)
        if state not in ("serving", "going") or (embedder is not None and embedder.absent is not None):
            continue
        if embedder is None and lanes.coming:
            return -1  # no question can be put to it until its successor serves
        least = min(least, lanes.reached(space))
    return least


async def _wait(parts: Parts) -> None:
    parts.nudge(hurry=True)
    await asyncio.sleep(_PAUSE)
