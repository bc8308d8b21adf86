"""The lanes for operators: which models' vectors serve, how far the others are, and letting go of old ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.model import LaneProgress
from rememberd.ports.vectors import DropVectors

if TYPE_CHECKING:
    from rememberd.ports.lanes import Lanes
    from rememberd.ports.parts import Parts
    from rememberd.ports.vectors import Space

_AT_ONCE = 500


async def read_lanes(parts: Parts) -> tuple[LaneProgress, ...]:
    """Every lane and model that vectors are held of, by name."""
    feed = parts.storage.feed
    head = await feed.head()
    listed = []
    for space, state in (await parts.storage.vectors.spaces()).items():
        reached = await feed.reached(space.follower)
        owed = await feed.puts(reached) if reached < head else 0
        problem = "" if state == "kept" else _problem(parts.lanes, space)
        listed.append(LaneProgress(lane=space.lane, model=space.model, state=state, owed=owed, problem=problem))
    return tuple(listed)


async def drop_lane(parts: Parts, lane: str, model: str) -> int:
    """Let go of all vectors of a lane and model that are only kept; answers how many there were.

    Where it was interrupted, another call goes on. Raises as ``DropVectors`` does.
    """
    dropped = 0
    while True:
        step = await parts.storage.write(DropVectors(lane, model, _AT_ONCE))
        dropped += step
        parts.nudge()
        if step < _AT_ONCE:
            return dropped


def _problem(lanes: Lanes, space: Space) -> str:
    embedder = lanes.embedder_of(space)
    if embedder is None:
        return "its model is not at hand"
    return embedder.absent or lanes.failure_of(space) or ""
