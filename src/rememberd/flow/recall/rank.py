"""Ranking: the score of each candidate, from parts that add up to it, the same on every engine.

A candidate is worth its words (BM25 against the best, or against what the question asks for, if the best is poor)
and its nearness in meaning. What was said right after or before a strong candidate gains from it, and so does what was
said by the one person whom the question names. How much of the question the best candidate covers is told besides: the
whole answer is silence when that does not reach the floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from rememberd.language.segment import fold, has_han, words_of
from rememberd.language.weigh import rarity, saturation
from rememberd.model import KINDS
from rememberd.ports.candidates import Proposals

if TYPE_CHECKING:
    from rememberd.model.change import Noun
    from rememberd.ports.candidates import Candidates

    from .plan import Plan

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.intp]

_WORDS, _VECTOR = 0.5, 0.5
# Of the question's weight: poorer matches do not count as full ones for want of better, least of all in a small store.
_LEAST_WORDS, _LEAST_IN_SMALL_STORE, _SMALL_STORE = 0.1, 0.7, 100
# From a candidate to its neighbours, up to four before and behind it, and what part of their strength it gains.
_STEPS = np.array([-4, -3, -2, -1, 1, 2, 3, 4])
_GAINS = np.where(_STEPS < 0, 0.6, 0.3) * 0.75 ** (np.abs(_STEPS) - 1)
_NOWHERE = -100  # is next to nothing, not even to another nowhere
_SPEAKER = 0.1
_TIME = 0.05
_RECENCY = 0.02
_HALF_LIVES = {kind.name: kind.half_life.total_seconds() if kind.half_life else np.inf for kind in KINDS.values()}
_PARTS = ("lexical", "vector", "neighbour", "speaker", "time", "recency")

# The floor: what share of the question a text must cover, in meaning and in words.
_MEANING_IN_RELEVANCE = 0.4
_FLOOR = {False: 0.465, True: 0.31}  # by whether the question is in Chinese
_FLOOR_BY_WORDS = {False: 0.319, True: 0.0}
_FEW = 50  # documents: silence means little where little is known
_NAMED_BACKGROUND = {False: 0.57, True: 0.42}
_FOLLOWING_BACKGROUND = 0.75


class Ranked(NamedTuple):
    """A candidate, its score, the parts that add up to it, and the words it shares with the question."""

    noun: Noun
    id: str
    name: str | None
    score: float
    parts: dict[str, float]
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking(Sequence[Ranked]):
    """What was ranked, best first; how much of the question the best covers, and how much it has to cover.

    ``parts`` has a row for each part of the scores. Each candidate is made when it is looked at: most never are.
    """

    proposals: Proposals
    terms: Sequence[str]
    scores: Floats
    parts: Floats
    order: Rows
    relevance: float
    floor: float

    @property
    def silent(self) -> bool:
        return self.relevance < self.floor

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, place: int) -> Ranked: ...

    @overload
    def __getitem__(self, place: slice) -> list[Ranked]: ...

    def __getitem__(self, place: int | slice) -> Ranked | list[Ranked]:
        if isinstance(place, slice):
            return list(map(Ranked, *self._columns(self.order[place])))
        (ranked,) = self[place : place + 1 or None]
        return ranked

    def _columns(self, rows: Rows) -> Iterable[list[Any]]:
        found = self.proposals
        yield found.nouns[rows].tolist()
        yield found.ids[rows].tolist()
        yield found.names[rows].tolist()
        yield self.scores[rows].tolist()
        yield [dict(zip(_PARTS, parts, strict=True)) for parts in self.parts[:, rows].T.tolist()]
        yield [tuple(compress(self.terms, held)) for held in (found.counts[rows] > 0).tolist()]


def rank(candidates: Candidates, plan: Plan) -> Ranking:
    """Best first; equal scores by time, then id, so that the order is always the same."""
    found = candidates.proposals
    if plan.exclude:
        found = found.take(~np.isin(found.ids, list(plan.exclude)))
    evidence = _Evidence(found, candidates, plan)
    parts = np.zeros((len(_PARTS), len(found)))
    lexical, vector, neighbour, speaker, time, recency = parts
    lexical[:], vector[:] = evidence.words, _VECTOR * evidence.nearness
    if "neighbour" in plan.stages:
        neighbour[:] = _from_neighbours(found, lexical + vector)
    if len(evidence.named) == 1:
        (name,) = evidence.named
        speaker[(found.names == name) & (parts.sum(0) > 0)] = _SPEAKER
    if plan.spans:
        time[_timely(found, plan) & (bool(plan.narrowed) | (parts.sum(0) > 0))] = _TIME
    worth = parts.sum(0) > 0
    if "recency" in plan.stages:
        np.multiply(_RECENCY, _recency(found, plan), out=recency, where=worth)
    parts = parts.round(6)
    scores = parts.sum(0).round(6)
    order = _best_first(found, scores, worth)
    floor = _floor(candidates.documents, plan)
    relevance = evidence.best_relevance() if floor or plan.query.explain else 0.0
    return Ranking(found, plan.terms, scores, parts, order, round(relevance, 6), round(floor, 6))


def _best_first(found: Proposals, scores: Floats, worth: NDArray[np.bool_]) -> Rows:
    """Ids are compared only where nothing else tells two rows apart: that is rare, and costs most."""
    order = np.lexsort((found.seconds, scores))[::-1]
    order = order[worth[order]]
    score, time = scores[order], found.seconds[order]
    if ((score[1:] == score[:-1]) & (time[1:] == time[:-1])).any():
        order = order[np.lexsort((found.ids[order].astype(str), -time, -score))]
    return order


class _Evidence:
    """What is known of all candidates, on one scale."""

    def __init__(self, found: Proposals, candidates: Candidates, plan: Plan) -> None:
        self._found, self._candidates, self._plan = found, candidates, plan
        documents = max(candidates.documents, 1)
        rare = np.array([rarity(documents, min(candidates.frequencies.get(term, 0), documents)) for term in plan.terms])
        self._asked, weights = rare * plan.asked, rare * plan.weights
        matched = np.vecdot(saturation(found.counts, found.lengths[:, None], candidates.average_length), weights)
        small = _SMALL_STORE / (documents + _SMALL_STORE)
        least = _LEAST_WORDS + _LEAST_IN_SMALL_STORE * small
        best = max(float(matched.max(initial=0.0)), least * float(self._asked.sum())) or 1.0
        share = _WORDS if plan.vectors else _WORDS + _VECTOR
        self.words = share * matched / best * self._covered(weights) ** (small * small)
        self.nearness = self._nearness(None)
        self.named = _named(found, plan) if "speaker" in plan.stages else set()

    def best_relevance(self) -> float:
        """How much of the question the candidate covers that covers most of it, in meaning and in words."""
        found, meaning = self._found, _MEANING_IN_RELEVANCE if self._plan.vectors else 0.0
        coverage = self._covered(self._asked)
        nearness = self._nearness(self._candidates.background) if self.named else self.nearness
        both = meaning * nearness + (1 - meaning) * coverage
        embedded = np.zeros(len(found), bool)
        for cosines in found.cosines.values():
            embedded |= ~np.isnan(cosines)
        relevance = np.where(embedded, both, coverage)  # what was just said has no vector yet
        return float(relevance.max(initial=0.0))

    def _covered(self, weights: Floats) -> Floats:
        """What share of the question's weight the terms of each candidate are."""
        whole = float(weights.sum())
        return np.vecdot(self._found.counts > 0, weights) / whole if whole else np.zeros(len(self._found))

    def _nearness(self, background: Mapping[str, float] | None) -> Floats:
        """The cosines on one scale for all lanes: 0 is chance, 1 is the same.

        A question that names a speaker is near to all that was said; ``background`` takes that out.
        """
        nearest = np.zeros(len(self._found))
        for lane, (mean, deviation) in self._plan.scales.items():
            if lane not in self._found.cosines:
                continue
            chance = mean
            if background is not None and lane in background:
                named = _NAMED_BACKGROUND[has_han(self._plan.query.text)]
                chance += _FOLLOWING_BACKGROUND * (background[lane] - named)
            near = np.minimum((self._found.cosines[lane] - chance) / (5 * deviation), 1.0)
            nearest = np.fmax(nearest, near)
        return nearest


def _named(found: Proposals, plan: Plan) -> set[str]:
    """The speakers whom the question names."""
    names = set(filter(None, found.names.tolist()))
    words = words_of(plan.query.text) if names else frozenset()
    return {name for name in names if fold(name) in words}


def _from_neighbours(found: Proposals, base: Floats) -> Floats:
    """What each candidate gains from strong ones before and after it in its thread."""
    order = np.argsort(found.places)
    places, strong = found.places[order], base[order]
    strong *= strong * strong  # the strongest count for most
    places[places < 0] = _NOWHERE
    wanted = places + _STEPS[:, None]
    at = places.searchsorted(wanted)
    there = places.take(at, mode="clip") == wanted
    gained = np.empty(len(found))
    gained[order] = _GAINS @ (strong.take(at, mode="clip") * there)
    return gained


def _timely(found: Proposals, plan: Plan) -> NDArray[np.bool_]:
    """Which candidates were said at a time of which the question speaks."""
    within = np.zeros(len(found), bool)
    for span in plan.spans:
        since = -np.inf if span.since is None else span.since.timestamp()
        until = np.inf if span.until is None else span.until.timestamp()
        within |= (since <= found.seconds) & (found.seconds < until)
    return within


def _recency(found: Proposals, plan: Plan) -> Floats:
    """1 is now; what does not fade is always now."""
    age = np.maximum(0.0, plan.now.timestamp() - found.seconds)
    half_lives = np.fromiter(map(_HALF_LIVES.__getitem__, found.kinds.tolist()), np.float64, len(found))
    return 0.5 ** (age / half_lives)


def _floor(documents: int, plan: Plan) -> float:
    """What the best candidate has to reach. A question that looks for nothing is not silenced by default."""
    if "floor" not in plan.stages:
        return 0.0
    if plan.query.floor is not None:
        return plan.query.floor
    if plan.narrowed and not plan.terms:
        return 0.0
    floors = _FLOOR if plan.vectors else _FLOOR_BY_WORDS
    return floors[has_han(plan.query.text)] * (documents / (documents + _FEW)) ** 2
