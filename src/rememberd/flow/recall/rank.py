"""Ranking: the score of each candidate, from parts that add up to it, the same on every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rememberd.language.weigh import K1, rarity, saturation
from rememberd.model import KINDS
from rememberd.ports.index import Candidate

if TYPE_CHECKING:
    from rememberd.ports.index import Candidates

    from .plan import Plan

_WORDS_WITH_VECTORS, _VECTORS, _RECENCY = 0.5, 0.4, 0.1


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, its score, the parts that add up to it, and the words it shares with the question."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]
    shared: tuple[str, ...]


def rank(candidates: Candidates, plan: Plan) -> list[Ranked]:
    """Those above the floor, best first; equal scores by time, then id, so that the order is always the same."""
    weigh = _Words(candidates, plan.terms)
    share = _WORDS_WITH_VECTORS if plan.vectors else _WORDS_WITH_VECTORS + _VECTORS
    floor = plan.query.floor or 0.0
    ranked = []
    for candidate in candidates.found:
        words = share * weigh(candidate)
        nearness = _VECTORS * max(0.0, max(candidate.cosine.values(), default=0.0))
        relevance = words + nearness
        if relevance <= 0 or relevance < floor or candidate.id in plan.exclude:
            continue
        recency = _RECENCY * relevance * _recency(candidate, plan)
        parts = {"lexical": round(words, 6), "vector": round(nearness, 6), "recency": round(recency, 6)}
        shared = tuple(term for term, count in zip(plan.terms, candidate.counts, strict=True) if count)
        ranked.append(Ranked(candidate, round(sum(parts.values()), 6), parts, shared))
    return sorted(ranked, key=lambda each: (-each.score, -each.candidate.seconds, each.candidate.id))


class _Words:
    """BM25, as a share of what a text could reach that holds every word of the question."""

    def __init__(self, candidates: Candidates, asked: tuple[str, ...]) -> None:
        number = max(candidates.documents, len(candidates.found), 1)
        self._average = candidates.average_length or 40.0
        seen = [min(candidates.frequencies.get(term, 0) or 1, number) for term in asked]
        self._weights = [rarity(number, frequency) for frequency in seen]
        self._most = sum(self._weights) * (K1 + 1) or 1.0

    def __call__(self, candidate: Candidate) -> float:
        reached: float = sum(
            weight * saturation(float(count), float(candidate.length), self._average)
            for weight, count in zip(self._weights, candidate.counts, strict=True)
            if count
        )
        return reached / self._most


def _recency(candidate: Candidate, plan: Plan) -> float:
    half_life = KINDS[candidate.kind].half_life
    if half_life is None:
        return 1.0
    age = max(0.0, plan.now.timestamp() - candidate.seconds)
    return float(0.5 ** (age / half_life.total_seconds()))
