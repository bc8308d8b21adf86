"""The stages of recall in their order; each can be replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rememberd.language.tokens import Counter
from rememberd.ports.index import Candidates, Index
from rememberd.ports.models import Embedder
from rememberd.ports.parts import Recalled
from rememberd.ports.storage import Storage

from .gather import gather
from .plan import Plan, plan
from .rank import Ranking, rank
from .read import read_hits
from .stages import Stages

if TYPE_CHECKING:
    from datetime import datetime

    from rememberd.model import Hit, Query, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Plan what is asked, gather what may answer it, rank it, and read the best of it again."""

    storage: Storage
    index: Index
    embedders: Sequence[Embedder]
    count_tokens: Counter
    stages: Stages = field(default_factory=Stages)
    rank: Callable[[Candidates, Plan], Ranking] = rank

    async def __call__(
        self, scope: Scope, query: Query, clock: datetime, *, everyone: bool, exclude: frozenset[str]
    ) -> Recalled:
        own = self.stages.own
        planned = await plan(scope, query, clock, self.embedders, everyone=everyone, exclude=exclude, stages=own)
        found = await gather(self.storage, self.index, planned)
        ranking = self.rank(found.candidates, planned)
        hits: list[Hit] = []
        if query.explain or not ranking.silent:
            hits = await read_hits(self.storage, planned, found, ranking.ranked, self.count_tokens)
        for stage in self.stages.others:
            hits = await asyncio.to_thread(stage, query, hits)
        return Recalled(
            hits=() if ranking.silent else tuple(hits),
            silenced=tuple(hits) if ranking.silent else (),
            ranked=len(ranking.ranked),
            relevance=ranking.relevance,
            floor=ranking.floor,
            degraded=planned.degraded + found.degraded,
            unapplied=found.unapplied,
        )
