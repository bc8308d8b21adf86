"""The stages of recall by name: each can be left out, and stages from elsewhere can be put in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rememberd.model import Hit, Query

#: Every stage of our own. A stage that is left out adds no part to a score; without the floor nothing is silenced.
STAGES = ("lexical", "vector", "neighbour", "speaker", "time", "recency", "fold", "floor")

#: A stage from elsewhere: takes the hits that were read, best first, and gives back those that it leaves, in its order.
Stage: TypeAlias = Callable[[Query, list[Hit]], list[Hit]]


@dataclass(frozen=True, slots=True)
class Stages:
    """Which stages of our own take part, and which others are called after them, in their order."""

    own: frozenset[str] = frozenset(STAGES)
    others: tuple[Stage, ...] = ()
