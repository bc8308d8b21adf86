"""Gathering: the index's proposals and what it has not applied yet, all read again from the storage under the scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rememberd.errors import RememberdError
from rememberd.flow.tail import unapplied
from rememberd.model import KINDS, MemoryItem, Message
from rememberd.ports.index import Candidates, Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.model.change import Noun
    from rememberd.ports.index import Index
    from rememberd.ports.storage import Storage

    from .plan import Plan

_PROPOSALS = 200
_SCAN = 50_000


@dataclass(frozen=True, slots=True)
class Found:
    """What may answer a question, the statistics to weigh words by, and what was missing while looking."""

    things: tuple[Message | MemoryItem, ...]
    candidates: Candidates
    degraded: tuple[str, ...] = ()
    cosine: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unapplied: int = 0


async def gather(storage: Storage, index: Index, plan: Plan) -> Found:
    """Everything that may answer, that the scope sees, that holds, and that the filters admit.

    What was acknowledged before the call is among it, whether the index has applied it or not.
    """
    if plan.query.as_of is not None:
        things = await _scan_as_of(storage, plan)
        return Found(_admitted(things, plan), Candidates(found=(), watermark=0))
    degraded: tuple[str, ...] = ()
    try:
        candidates = await index.search(
            Search(
                scope=plan.scope,
                filters=plan.query.filters,
                terms=plan.terms,
                vectors=plan.vectors,
                limit=max(_PROPOSALS, 2 * plan.query.k),
                everyone=plan.everyone,
            )
        )
    except RememberdError as failure:
        candidates = Candidates(found=(), watermark=await storage.feed.head())
        degraded = (f"index: {failure.detail}",)
    ids = {(candidate.noun, candidate.id) for candidate in candidates.found}
    tail = await unapplied(storage, plan.scope.tenant, candidates.watermark)
    ids |= tail
    things = await _read_again(storage, plan.scope.tenant, ids)
    cosine = {candidate.id: candidate.cosine for candidate in candidates.found}
    return Found(_admitted(things, plan), candidates, degraded, cosine, len(tail))


async def _read_again(storage: Storage, tenant: str, ids: set[tuple[Noun, str]]) -> list[Message | MemoryItem]:
    messages = await storage.records.messages(tenant, [id_ for noun, id_ in ids if noun == "message"])
    items = await storage.holdings.get_many(tenant, [id_ for noun, id_ in ids if noun == "memory"])
    return [*messages, *items]


async def _scan_as_of(storage: Storage, plan: Plan) -> list[Message | MemoryItem]:
    """What was known at a moment in the past: the index knows only the present, so the scope is read through."""
    moment = plan.query.as_of
    assert moment is not None
    scope = plan.scope.within(None)
    messages = await storage.records.history(scope, order="newest", after=None, until=moment, limit=_SCAN)
    return [*messages, *await storage.holdings.as_of(scope, moment, _SCAN)]


def _admitted(things: Sequence[Message | MemoryItem], plan: Plan) -> tuple[Message | MemoryItem, ...]:
    return tuple(thing for thing in things if thing.id not in plan.exclude and _may_answer(thing, plan))


def _is_recalled(item: MemoryItem, plan: Plan) -> bool:
    return KINDS[item.kind].indexed and item.holds_at(plan.now) and not item.expired_at(plan.clock)


def _may_answer(thing: Message | MemoryItem, plan: Plan) -> bool:
    if thing.tenant != plan.scope.tenant:
        return False
    if not plan.everyone and not plan.scope.sees(thing.user, thing.agent):
        return False
    if isinstance(thing, MemoryItem) and not _is_recalled(thing, plan):
        return False
    return plan.query.filters.admits(thing)
