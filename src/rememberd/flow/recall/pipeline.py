"""The stages of recall in their order; each can be replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rememberd.language.tokens import Counter
from rememberd.ports.index import Candidates, Index
from rememberd.ports.models import Embedder
from rememberd.ports.parts import Recalled
from rememberd.ports.storage import Storage

from .gather import gather
from .plan import Plan, plan
from .rank import Ranked, rank
from .read import read_hits

if TYPE_CHECKING:
    from datetime import datetime

    from rememberd.model import Query, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Plan what is asked, gather what may answer it, rank it, and read the best of it again."""

    storage: Storage
    index: Index
    embedders: Sequence[Embedder]
    count_tokens: Counter
    rank: Callable[[Candidates, Plan], list[Ranked]] = rank

    async def __call__(
        self, scope: Scope, query: Query, clock: datetime, *, everyone: bool, exclude: frozenset[str]
    ) -> Recalled:
        planned = await plan(scope, query, clock, self.embedders, everyone=everyone, exclude=exclude)
        found = await gather(self.storage, self.index, planned)
        hits = await read_hits(self.storage, planned, found, self.rank(found.candidates, planned), self.count_tokens)
        return Recalled(tuple(hits), planned.degraded + found.degraded, found.unapplied, planned.narrowed)
