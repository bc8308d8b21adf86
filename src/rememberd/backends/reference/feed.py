"""The feed on a list in this process: a change's position is its place in the list, counted from 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .tables import Committed, Tables

if TYPE_CHECKING:
    from rememberd.model import Change
    from rememberd.ports.feed import Advance


def advance(tables: Tables, operation: Advance) -> None:
    reached = tables.followers.get(operation.follower, 0)
    tables.followers[operation.follower] = max(reached, operation.position)


@dataclass(frozen=True, slots=True)
class ReferenceFeed:
    committed: Committed

    async def head(self) -> int:
        return len(self.committed.tables.feed)

    async def read(self, after: int, limit: int) -> list[Change]:
        return self.committed.tables.feed[after : after + limit]

    async def texts(self, after: int, limit: int) -> tuple[list[Change], int]:
        feed = self.committed.tables.feed
        changes = [change for change in feed[after:] if change.operation != "embed"]
        return changes[:limit], changes[limit - 1].position if len(changes) > limit else max(after, len(feed))

    async def puts(self, after: int) -> int:
        return sum(change.operation == "put" for change in self.committed.tables.feed[after:])

    async def reached(self, follower: str) -> int:
        return self.committed.tables.followers.get(follower, 0)
