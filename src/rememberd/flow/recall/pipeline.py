"""The stages of recall in their order; each can be replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rememberd.errors import Unavailable
from rememberd.ports.candidates import Candidates
from rememberd.ports.index import Index
from rememberd.ports.lanes import Lanes
from rememberd.ports.parts import Recalled
from rememberd.ports.storage import Storage

from .gather import Found, gather
from .plan import Plan, plan
from .rank import Ranking, rank
from .read import Read, read_hits
from .stages import Stages
from .waiting import Waiting, with_waiting

if TYPE_CHECKING:
    from datetime import datetime

    from rememberd.model import Query, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Plan what is asked, gather what may answer it, rank it, and read the best of it again.

    ``prepare`` is waited for first: what it loads is not loaded while others wait for the loop.
    """

    storage: Storage
    index: Index
    lanes: Lanes
    waiting: Waiting
    prepare: Callable[[], Awaitable[None]]
    stages: Stages = field(default_factory=Stages)
    rank: Callable[[Candidates, Plan], Ranking] = rank

    async def __call__(
        self, scope: Scope, query: Query, clock: datetime, *, everyone: bool, exclude: frozenset[str]
    ) -> Recalled:
        await self.prepare()
        own = self.stages.own
        planned = await plan(scope, query, clock, self.lanes.serving, everyone=everyone, exclude=exclude, stages=own)
        found = await self._gather(planned)
        ranking = self.rank(found.candidates, planned)
        read = Read()
        if query.explain or not ranking.silent:
            read = await read_hits(self.storage, planned, found, ranking)
        hits = read.hits
        for stage in self.stages.others:
            hits = await asyncio.to_thread(stage, query, hits)
        return Recalled(
            hits=() if ranking.silent else tuple(hits),
            silenced=tuple(hits) if ranking.silent else (),
            repeated=tuple(read.repeated),
            ranked=len(ranking),
            relevance=ranking.relevance,
            floor=ranking.floor,
            degraded=(
                self.lanes.missing(query.text) + planned.degraded + found.degraded + await self._owed(planned, found)
            ),
            unapplied=found.unapplied,
            narrowed=planned.narrowed,
        )

    async def _owed(self, planned: Plan, found: Found) -> tuple[str, ...]:
        """What has no vector yet, or none that the index has applied; what is left out is no loss."""
        if not planned.vectors:
            return ()
        owed = await self.lanes.owed(planned.scope.tenant, found.head, planned.exclude)
        owed = max(owed, found.unapplied - len(planned.exclude))
        return (f"vectors: {owed:,} of the latest have none yet, so words alone find them",) if owed > 0 else ()

    async def _gather(self, planned: Plan) -> Found:
        """While messages wait in the spool they are recalled from there, even if nothing else can be."""
        if not self.waiting.engaged:
            return await gather(self.storage, self.index, planned)
        try:
            found = await gather(self.storage, self.index, planned)
        except Unavailable as failure:
            found = Found(candidates=Candidates.none(planned), degraded=(f"{failure.code}: {failure.detail}",))
        return with_waiting(found, await self.waiting.seen(planned.scope, everyone=planned.everyone), planned)
