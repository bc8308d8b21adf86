"""What a question looks for: its terms and their weights, its vectors, and the moment it is asked from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from rememberd.errors import RememberdError
from rememberd.language.segment import asked_terms, question_terms, split_question
from rememberd.language.when import Span
from rememberd.model import Narrowed, Query, Scope
from rememberd.ports.models import space_of

from .in_time import in_time
from .stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.ports.models import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``weights`` go with ``terms``; ``asked`` are those of the sentences that ask, 0 for the others.

    ``scales`` are the spaces' mean and deviation of the cosines of texts that have nothing to do with each other.
    ``now`` decides what is valid and how old things are; ``clock`` decides what has expired. ``spans`` are the times
    that the question speaks of; if it is ``narrowed`` to one, the query's filters keep to it.
    """

    scope: Scope
    query: Query
    terms: tuple[str, ...]
    weights: tuple[float, ...]
    asked: tuple[float, ...]
    now: datetime
    clock: datetime
    vectors: Mapping[str, bytes] = field(default_factory=dict)
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    everyone: bool = False
    exclude: frozenset[str] = frozenset()
    spans: tuple[Span, ...] = ()
    narrowed: Narrowed | None = None
    stages: frozenset[str] = frozenset(STAGES)
    degraded: tuple[str, ...] = ()


async def plan(
    scope: Scope,
    query: Query,
    clock: datetime,
    embedders: Sequence[Embedder] = (),
    *,
    everyone: bool = False,
    exclude: frozenset[str] = frozenset(),
    stages: frozenset[str] = frozenset(STAGES),
) -> Plan:
    now = query.now or query.as_of or clock
    query, text, spans, narrowed = in_time(query, now) if "time" in stages else (query, query.text, (), None)
    weights = question_terms(text) if "lexical" in stages else {}
    asked = weights if split_question(text) is None else asked_terms(text)
    vectors: dict[str, bytes] = {}
    scales: dict[str, tuple[float, float]] = {}
    degraded: list[str] = []
    for embedder in embedders if text and "vector" in stages else ():
        if not embedder.asks(text):
            continue
        lane = space_of(embedder).name
        scales[lane] = embedder.scale
        try:
            vectors[lane] = await _embed(embedder, text)
        except RememberdError as failure:
            degraded.append(f"vectors: lane {embedder.lane}: {failure.detail}")
    return Plan(
        scope=scope,
        query=query,
        terms=tuple(weights),
        weights=tuple(weights.values()),
        asked=tuple(asked.get(term, 0.0) for term in weights),
        now=now,
        clock=clock,
        vectors=vectors,
        scales=scales,
        everyone=everyone,
        exclude=exclude,
        spans=spans,
        narrowed=narrowed,
        stages=stages,
        degraded=tuple(degraded),
    )


async def _embed(embedder: Embedder, text: str) -> bytes:
    """The vector of a question; where it states things before it asks, the mean of the whole and of what it asks."""
    split = split_question(text)
    if split is None:
        return (await embedder.embed([text]))[0]
    whole, asking = (np.frombuffer(data, "<f4") for data in await embedder.embed([text, split[0]]))
    mean: bytes = ((whole + asking) / 2).astype("<f4").tobytes()
    return mean
