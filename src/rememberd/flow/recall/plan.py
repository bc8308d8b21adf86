"""What a question looks for: its terms, its vectors, and the moment it is asked from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from rememberd.language.segment import question_terms
from rememberd.model import Query, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.ports.models import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``now`` decides what is valid and how old things are; ``clock`` decides what has expired."""

    scope: Scope
    query: Query
    terms: tuple[str, ...]
    now: datetime
    clock: datetime
    vectors: Mapping[str, bytes] = field(default_factory=dict)
    everyone: bool = False
    exclude: frozenset[str] = frozenset()


async def plan(
    scope: Scope,
    query: Query,
    clock: datetime,
    embedders: Sequence[Embedder] = (),
    *,
    everyone: bool = False,
    exclude: frozenset[str] = frozenset(),
) -> Plan:
    vectors = {
        embedder.lane: (await embedder.embed([query.text]))[0] for embedder in embedders if embedder.takes(query.text)
    }
    return Plan(
        scope=scope,
        query=query,
        terms=question_terms(query.text),
        now=query.now or query.as_of or clock,
        clock=clock,
        vectors=vectors,
        everyone=everyone,
        exclude=exclude,
    )
