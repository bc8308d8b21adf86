"""The shapes of answers on the wire that are not nouns of the model. The server writes them, the client reads them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from rememberd.errors import Fault
from rememberd.model import (
    ApiKey,
    Citation,
    Context,
    Explanation,
    Fate,
    Hit,
    Narrowed,
    Receipt,
    Tokens,
    Turn,
    Verdict,
    WindowMessage,
)

#: One encoder for both directions: compact JSON, times as RFC 3339.
encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedContext:
    """What fits the budget. ``items`` names packed hits by id where they are among the raw chunks, else in full."""

    text: str
    messages: tuple[WindowMessage, ...]
    citations: tuple[Citation, ...]
    items: tuple[str | Hit, ...]
    degraded: tuple[str, ...]
    narrowed: Narrowed | None = None


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """What became of a hit: by id where it is among the raw chunks, else in full."""

    hit: str | Hit
    fate: Fate
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExplanation:
    """How many candidates were ranked, and what became of the best; how much of the question the best of them covers,
    and how much it had to."""

    ranked: int
    relevance: float
    floor: float
    verdicts: tuple[ShownVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """The answer to a query: the best hits, whatever the budget, and the context packed into it."""

    raw_chunks: tuple[Hit, ...]
    condensed_summary: str
    context: PackedContext
    tokens: Tokens
    explanation: ShownExplanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAnswer:
    """A turn that has begun: the answer to its query, with its id, its thread and the receipt of its message."""

    id: str
    thread: str
    receipt: Receipt | None
    raw_chunks: tuple[Hit, ...]
    condensed_summary: str
    context: PackedContext
    tokens: Tokens
    explanation: ShownExplanation | None = None


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """``receipt`` is the reply's, if there was one."""

    receipt: Receipt | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many dead letters wait again."""

    replayed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownApiKey:
    """An API key as it may be shown: nothing in it lets anyone in."""

    id: str
    tenant: str | None
    operator: bool
    created_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DroppedLane:
    """How many vectors were let go of."""

    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """RFC 9457. ``instance`` is the request's id; ``errors`` name every fault of a request that is wrong."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    retryable: bool
    errors: tuple[Fault, ...] = ()


def query_answer(context: Context) -> QueryAnswer:
    return QueryAnswer(**_parts(context))


def turn_answer(turn: Turn) -> TurnAnswer:
    return TurnAnswer(id=turn.id, thread=turn.thread, receipt=turn.receipt, **_parts(turn.context))


def context_of(answer: QueryAnswer | TurnAnswer) -> Context:
    """The context that was answered, equal to the one the server had."""
    hits = {hit.id: hit for hit in answer.raw_chunks}

    def whole(hit: str | Hit) -> Hit:
        return hits[hit] if isinstance(hit, str) else hit

    packed, shown = answer.context, answer.explanation
    return Context(
        text=packed.text,
        items=tuple(whole(item) for item in packed.items),
        raw=answer.raw_chunks,
        citations=packed.citations,
        messages=packed.messages,
        tokens=answer.tokens,
        degraded=packed.degraded,
        narrowed=packed.narrowed,
        explanation=None
        if shown is None
        else Explanation(
            ranked=shown.ranked,
            relevance=shown.relevance,
            floor=shown.floor,
            verdicts=tuple(Verdict(whole(each.hit), each.fate, each.tokens) for each in shown.verdicts),
        ),
    )


def turn_of(answer: TurnAnswer) -> Turn:
    return Turn(answer.id, answer.thread, answer.receipt, context_of(answer))


def shown(api_key: ApiKey) -> ShownApiKey:
    return ShownApiKey(
        id=api_key.id,
        tenant=api_key.tenant,
        operator=api_key.operator,
        created_at=api_key.created_at,
        revoked_at=api_key.revoked_at,
    )


def _parts(context: Context) -> dict[str, Any]:
    hits = {hit.id: hit for hit in context.raw}

    def short(hit: Hit) -> str | Hit:
        return hit.id if hits.get(hit.id) == hit else hit

    packed = PackedContext(
        text=context.text,
        messages=context.messages,
        citations=context.citations,
        items=tuple(short(item) for item in context.items),
        degraded=context.degraded,
        narrowed=context.narrowed,
    )
    told = context.explanation
    return {
        "raw_chunks": context.raw,
        "condensed_summary": context.text,
        "context": packed,
        "tokens": context.tokens,
        "explanation": None
        if told is None
        else ShownExplanation(
            ranked=told.ranked,
            relevance=told.relevance,
            floor=told.floor,
            verdicts=tuple(ShownVerdict(short(each.hit), each.fate, each.tokens) for each in told.verdicts),
        ),
    }
