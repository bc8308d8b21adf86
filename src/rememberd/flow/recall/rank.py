"""Ranking: the score of each candidate, from parts that add up to it, the same on every engine.

A candidate is worth its words (BM25 against the best, or against what the question asks for, if the best is poor)
and its nearness in meaning. What was said right after or before a strong candidate gains from it, and so does what was
said by the one person whom the question names. How much of the question the best candidate covers is told besides: the
whole answer is silence when that does not reach the floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rememberd.language.segment import fold, has_han, words_of
from rememberd.language.weigh import rarity, saturation
from rememberd.model import KINDS
from rememberd.ports.index import Candidate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rememberd.ports.index import Candidates

    from .plan import Plan

Floats: TypeAlias = "NDArray[np.float64]"

_WORDS, _VECTOR = 0.5, 0.5
# Of the question's weight: poorer matches do not count as full ones for want of better, least of all in a small store.
_LEAST_WORDS, _LEAST_IN_SMALL_STORE, _SMALL_STORE = 0.1, 0.7, 100
_AFTER, _BEFORE, _FADING, _REACH, _POWER = 0.6, 0.3, 0.75, 4, 3
_SPEAKER = 0.1
_RECENCY = 0.02

# The floor: what share of the question a text must cover, in meaning and in words.
_MEANING_IN_RELEVANCE = 0.4
_FLOOR = {False: 0.465, True: 0.31}  # by whether the question is in Chinese
_FLOOR_BY_WORDS = {False: 0.319, True: 0.0}
_FEW = 50  # documents: silence means little where little is known
_NAMED_BACKGROUND = {False: 0.53, True: 0.42}
_FOLLOWING_BACKGROUND = 0.75


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, its score, the parts that add up to it, and the words it shares with the question."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first; how much of the question the best covers, and how much it has to cover."""

    ranked: list[Ranked]
    relevance: float = 0.0
    floor: float = 0.0

    @property
    def silent(self) -> bool:
        return self.relevance < self.floor


def rank(candidates: Candidates, plan: Plan) -> Ranking:
    """Best first; equal scores by time, then id, so that the order is always the same."""
    found = [candidate for candidate in candidates.found if candidate.id not in plan.exclude]
    if not found:
        return Ranking([])
    evidence = _Evidence(found, candidates, plan)
    base = evidence.words + evidence.vector
    after, before = _neighbours(found, base if "neighbour" in plan.stages else np.zeros(len(found)))
    parts = {
        "lexical": evidence.words,
        "vector": evidence.vector,
        "neighbour": after + before,
        "speaker": np.where(base + after + before > 0, evidence.speaker, 0.0),
    }
    total = sum(parts.values())
    parts["recency"] = np.where((total > 0) & ("recency" in plan.stages), _RECENCY * _recency(found, plan), 0.0)
    parts = {name: np.round(values, 6) for name, values in parts.items()}
    scores = sum(parts.values())
    order = sorted(
        np.flatnonzero(total > 0).tolist(), key=lambda i: (-round(float(scores[i]), 6), -found[i].seconds, found[i].id)
    )
    ranked = [
        Ranked(
            found[i],
            round(float(scores[i]), 6),
            {name: float(values[i]) for name, values in parts.items()},
            tuple(term for term, count in zip(plan.terms, found[i].counts, strict=True) if count),
        )
        for i in order
    ]
    return Ranking(ranked, round(evidence.best_relevance, 6), round(_floor(candidates.documents, plan), 6))


class _Evidence:
    """The evidence of all candidates as arrays."""

    def __init__(self, found: list[Candidate], candidates: Candidates, plan: Plan) -> None:
        documents = max(candidates.documents, 1)
        rare = np.array([rarity(documents, min(candidates.frequencies.get(term, 0), documents)) for term in plan.terms])
        counts = np.array([candidate.counts for candidate in found], np.float64).reshape(len(found), len(plan.terms))
        lengths = np.array([candidate.length for candidate in found], np.float64)
        asked = rare * np.array(plan.asked)
        mass = float(asked.sum())
        matched = saturation(counts, lengths[:, None], candidates.average_length) @ (rare * np.array(plan.weights))
        least = _LEAST_WORDS + _LEAST_IN_SMALL_STORE * _SMALL_STORE / (documents + _SMALL_STORE)
        best = max(float(matched.max(initial=0.0)), least * mass) or 1.0
        share, self._meaning = (_WORDS, _MEANING_IN_RELEVANCE) if plan.vectors else (_WORDS + _VECTOR, 0.0)
        self.words = share * matched / best
        named = _named(found, plan) if "speaker" in plan.stages else set()
        self.vector = _VECTOR * _nearness(found, plan, None)
        self.speaker = np.array([_SPEAKER * (len(named) == 1 and candidate.name in named) for candidate in found])
        coverage = (counts > 0) @ asked / mass if mass else np.zeros(len(found))
        background = candidates.background if named else None
        both = self._meaning * _nearness(found, plan, background) + (1 - self._meaning) * coverage
        embedded = np.array([bool(candidate.cosine) for candidate in found])
        relevance = np.where(embedded, both, coverage)  # what was just said has no vector yet
        self.best_relevance = float(relevance.max(initial=0.0))


def _nearness(found: list[Candidate], plan: Plan, background: Mapping[str, float] | None) -> Floats:
    """The cosines on one scale for all lanes: 0 is chance, 1 is the same.

    A question that names a speaker is near to all that was said; ``background`` takes that out.
    """
    nearest = np.zeros(len(found))
    for lane, (mean, deviation) in plan.scales.items():
        chance = mean
        if background is not None and lane in background:
            chance += _FOLLOWING_BACKGROUND * (background[lane] - _NAMED_BACKGROUND[has_han(plan.query.text)])
        cosines = np.array([candidate.cosine.get(lane, -1.0) for candidate in found])
        nearest = np.maximum(nearest, np.clip((cosines - chance) / (5 * deviation), 0.0, 1.0))
    return nearest


def _named(found: list[Candidate], plan: Plan) -> set[str]:
    """The speakers whom the question names."""
    names = {candidate.name for candidate in found if candidate.name}
    words = words_of(plan.query.text) if names else frozenset()
    return {name for name in names if fold(name) in words}


def _neighbours(found: list[Candidate], base: Floats) -> tuple[Floats, Floats]:
    """What each candidate gains from strong ones before and after it in its thread."""
    after, before = np.zeros(len(found)), np.zeros(len(found))
    place = {(candidate.thread, candidate.seq): i for i, candidate in enumerate(found) if candidate.seq is not None}
    strong = base**_POWER
    for (thread, seq), i in place.items():
        for step in range(1, _REACH + 1):
            fading = _FADING ** (step - 1)
            earlier, later = place.get((thread, seq - step)), place.get((thread, seq + step))
            if earlier is not None:
                after[i] += _AFTER * fading * strong[earlier]
            if later is not None:
                before[i] += _BEFORE * fading * strong[later]
    return after, before


def _recency(found: list[Candidate], plan: Plan) -> Floats:
    """1 is now; what does not fade is always now."""
    now = plan.now.timestamp()
    faded = []
    for candidate in found:
        half_life = KINDS[candidate.kind].half_life
        age = max(0.0, now - candidate.seconds)
        faded.append(1.0 if half_life is None else 0.5 ** (age / half_life.total_seconds()))
    return np.array(faded)


def _floor(documents: int, plan: Plan) -> float:
    """What the best candidate has to reach. A question that looks for nothing is not silenced by default."""
    if "floor" not in plan.stages:
        return 0.0
    if plan.query.floor is not None:
        return plan.query.floor
    floors = _FLOOR if plan.vectors else _FLOOR_BY_WORDS
    return floors[has_han(plan.query.text)] * (documents / (documents + _FEW)) ** 2
