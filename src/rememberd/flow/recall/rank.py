"""Ranking: the score of each thing found, from parts that add up to it, the same on every engine."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from rememberd.language.segment import terms
from rememberd.model import KINDS, MESSAGE, Hit, MemoryItem, Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .gather import Found
    from .plan import Plan

_K1, _B = 1.2, 0.75
_WORDS_WITH_VECTORS, _VECTORS, _RECENCY = 0.5, 0.4, 0.1


def rank(found: Found, plan: Plan) -> list[Hit]:
    """The hits above the floor, best first; equal scores by time, then id, so that the order is always the same."""
    weigh = _Weights(found, plan.terms)
    share = _WORDS_WITH_VECTORS if plan.vectors else _WORDS_WITH_VECTORS + _VECTORS
    floor = plan.query.floor or 0.0
    hits = []
    for thing in found.things:
        counts = Counter(terms(thing.content if isinstance(thing, Message) else thing.text))
        matched = [term for term in plan.terms if term in counts]
        words = share * weigh(counts, matched)
        nearness = _VECTORS * max(0.0, max(found.cosine.get(thing.id, {}).values(), default=0.0))
        relevance = words + nearness
        if relevance <= 0 or relevance < floor:
            continue
        parts = {"lexical": words, "vector": nearness, "recency": _RECENCY * relevance * _recency(thing, plan)}
        hits.append(_hit(thing, {part: round(value, 6) for part, value in parts.items()}, _why(matched, parts)))
    return sorted(hits, key=lambda hit: (-hit.score, -hit.at.timestamp(), hit.id))


class _Weights:
    """BM25, as a share of what a text could reach that holds every word of the question."""

    def __init__(self, found: Found, asked: tuple[str, ...]) -> None:
        statistics = found.candidates
        number = max(statistics.documents, len(found.things), 1)
        self._length = statistics.average_length or 40.0
        self._weight = {
            term: math.log(1 + (number - seen + 0.5) / (seen + 0.5))
            for term in asked
            for seen in [min(statistics.frequencies.get(term, 1), number)]
        }
        self._most = sum(self._weight.values()) * (_K1 + 1) or 1.0

    def __call__(self, counts: Mapping[str, int], matched: list[str]) -> float:
        damping = _K1 * (1 - _B + _B * sum(counts.values()) / self._length)
        reached = sum(self._weight[term] * counts[term] * (_K1 + 1) / (counts[term] + damping) for term in matched)
        return reached / self._most


def _recency(thing: Message | MemoryItem, plan: Plan) -> float:
    kind = KINDS[MESSAGE if isinstance(thing, Message) else thing.kind]
    if kind.half_life is None:
        return 1.0
    age = max(0.0, (plan.now - thing.at).total_seconds())
    return float(0.5 ** (age / kind.half_life.total_seconds()))


def _why(matched: list[str], parts: Mapping[str, float]) -> str:
    reasons = []
    if matched:
        longest = sorted(matched, key=len, reverse=True)[:4]
        reasons.append("shares the words " + ", ".join(longest))
    if parts["vector"]:
        reasons.append("is near in meaning")
    return "; ".join(reasons)


def _hit(thing: Message | MemoryItem, parts: dict[str, float], why: str) -> Hit:
    score = round(sum(parts.values()), 6)
    if isinstance(thing, Message):
        return Hit(
            id=thing.id, kind=MESSAGE, text=thing.content, role=thing.role, name=thing.name, thread=thing.thread,
            user=thing.user, agent=thing.agent, topic=None, domain=None, source=None, at=thing.at, score=score,
            parts=parts, why=why, metadata=thing.metadata,
        )  # fmt: skip
    return Hit(
        id=thing.id, kind=thing.kind, text=thing.text, role=None, name=None, thread=thing.thread, user=thing.user,
        agent=thing.agent, topic=thing.topic, domain=thing.domain, source=thing.source, at=thing.at, score=score,
        parts=parts, why=why, metadata=thing.metadata,
    )  # fmt: skip
