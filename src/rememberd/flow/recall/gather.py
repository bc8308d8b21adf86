"""Gathering: the index's proposals, and what it has not applied yet, each with the evidence for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rememberd.errors import RememberdError
from rememberd.flow.tail import unapplied
from rememberd.flow.things import Thing, by_address, read_things
from rememberd.language.searchable import worded
from rememberd.language.segment import terms
from rememberd.model import KINDS, MESSAGE, MemoryItem, Message
from rememberd.model.change import Noun
from rememberd.ports.candidates import Candidate, Candidates, Proposals, place_of
from rememberd.ports.index import Search

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rememberd.ports.index import Index
    from rememberd.ports.storage import Storage

    from .plan import Plan

_PROPOSALS = 400
REACH = 4
_SCAN = 50_000
_NO_VECTORS: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Candidates with their evidence, and what was missing while looking.

    ``things`` are those that had to be read already: what the index does not know yet, and what it never knew.
    ``head`` is where the feed ended.
    """

    candidates: Candidates
    things: Mapping[tuple[Noun, str], Thing] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    unapplied: int = 0
    head: int = 0


async def gather(storage: Storage, index: Index, plan: Plan) -> Found:
    """Everything that may answer. What was acknowledged before the call is among it, applied by the index or not."""
    if plan.query.as_of is not None:
        things = await _scan_as_of(storage, plan)
        return Found(candidates=_statistics(things.values(), plan), things=things)
    degraded: tuple[str, ...] = ()
    search = Search(
        scope=plan.scope,
        filters=plan.query.filters,
        terms=plan.terms,
        vectors=plan.vectors,
        limit=max(_PROPOSALS, 2 * plan.query.k),
        reach=REACH,
        everyone=plan.everyone,
    )
    try:
        proposed = await index.search(search)
    except RememberdError as failure:
        proposed = Candidates.none(search, await storage.feed.head())
        degraded = (f"index: {failure.detail}",)
    tail, head = await unapplied(storage, plan.scope.tenant, proposed.watermark)
    things = await admitted_things(storage, plan, tail) if tail else {}
    known = proposed.without(tail) if tail else proposed
    fresh = [evidence(thing, plan) for thing in things.values()]
    return Found(
        candidates=counted_together(known, fresh, plan),
        things=things,
        degraded=degraded,
        unapplied=len(tail),
        head=head,
    )


def evidence(thing: Thing, plan: Plan) -> Candidate:
    """What an index would tell of a thing."""
    is_message = isinstance(thing, Message)
    counted = Counter(terms(_text(thing)))
    return Candidate(
        noun="message" if is_message else "memory",
        id=thing.id,
        counts=tuple(counted[term] for term in plan.terms),
        length=counted.total(),
        cosine=_NO_VECTORS,
        kind=MESSAGE if isinstance(thing, Message) else thing.kind,
        name=thing.name if isinstance(thing, Message) else None,
        place=place_of(thing.thread, thing.seq) if isinstance(thing, Message) else place_of(None, None),
        seconds=thing.at.timestamp(),
    )


def _text(thing: Thing) -> str:
    return worded(thing.content, thing.name, thing.at) if isinstance(thing, Message) else thing.text


def may_answer(thing: Thing, plan: Plan) -> bool:
    """Whether a thing, as it was just read, may be handed out: a stale index can leak nothing."""
    if thing.tenant != plan.scope.tenant or thing.id in plan.exclude:
        return False
    if not plan.everyone and not plan.scope.sees(thing.user, thing.agent):
        return False
    if isinstance(thing, MemoryItem) and not _is_recalled(thing, plan):
        return False
    return plan.query.filters.admits(thing)


def _is_recalled(item: MemoryItem, plan: Plan) -> bool:
    return KINDS[item.kind].indexed and item.holds_at(plan.now) and not item.expired_at(plan.clock)


async def admitted_things(
    storage: Storage, plan: Plan, ids: Iterable[tuple[Noun, str]]
) -> dict[tuple[Noun, str], Thing]:
    """Messages and memory items as they are now, by address; those that may be handed out."""
    things = await read_things(storage, plan.scope.tenant, ids)
    return by_address(thing for thing in things if may_answer(thing, plan))


async def _scan_as_of(storage: Storage, plan: Plan) -> dict[tuple[Noun, str], Thing]:
    """What was known at a moment in the past: the index knows only the present, so the scope is read through."""
    moment = plan.query.as_of
    assert moment is not None
    scope = plan.scope.within(None)
    messages = await storage.records.history(scope, order="newest", after=None, until=moment, limit=_SCAN)
    things: list[Thing] = [*messages, *await storage.holdings.as_of(scope, moment, _SCAN)]
    return by_address(thing for thing in things if may_answer(thing, plan))


def counted_together(known: Candidates, fresh: Sequence[Candidate], plan: Plan) -> Candidates:
    """What the index knows, and what it will know, with the statistics of both."""
    if not fresh:
        return known
    documents = known.documents + len(fresh)
    length = known.documents * known.average_length + sum(candidate.length for candidate in fresh)
    return replace(
        known,
        proposals=known.proposals.joined(Proposals.of(fresh, plan)),
        documents=documents,
        average_length=length / documents,
        frequencies={
            term: known.frequencies.get(term, 0) + sum(bool(candidate.counts[i]) for candidate in fresh)
            for i, term in enumerate(plan.terms)
        },
    )


def _statistics(things: Iterable[Thing], plan: Plan) -> Candidates:
    """The statistics of things that no index counted."""
    return counted_together(Candidates.none(plan), [evidence(thing, plan) for thing in things], plan)
