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
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from rememberd.language.segment import fold, has_han, words_of
from rememberd.language.weigh import rarity, saturation
from rememberd.model import KINDS
from rememberd.model.change import Noun
from rememberd.ports.candidates import Proposals

if TYPE_CHECKING:
    from rememberd.ports.candidates import Candidates

    from .plan import Plan

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.intp]

_WORDS, _VECTOR = 0.5, 0.5
# Of the question's weight: poorer matches do not count as full ones for want of better, least of all in a small store.
_LEAST_WORDS, _LEAST_IN_SMALL_STORE, _SMALL_STORE = 0.1, 0.7, 100
_AFTER, _BEFORE, _FADING, _REACH, _POWER = 0.6, 0.3, 0.75, 4, 3
_SPEAKER = 0.1
_TIME = 0.05
_RECENCY = 0.02

# The floor: what share of the question a text must cover, in meaning and in words.
_MEANING_IN_RELEVANCE = 0.4
_FLOOR = {False: 0.465, True: 0.31}  # by whether the question is in Chinese
_FLOOR_BY_WORDS = {False: 0.319, True: 0.0}
_FEW = 50  # documents: silence means little where little is known
_NAMED_BACKGROUND = {False: 0.57, True: 0.42}
_FOLLOWING_BACKGROUND = 0.75


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, its score, the parts that add up to it, and the words it shares with the question."""

    noun: Noun
    id: str
    name: str | None
    score: float
    parts: Mapping[str, float]
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking(Sequence[Ranked]):
    """What was ranked, best first; how much of the question the best covers, and how much it has to cover.

    Each is made when it is looked at: most never are.
    """

    proposals: Proposals
    terms: Sequence[str]
    scores: Floats
    parts: Mapping[str, Floats]
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

    def _columns(self, rows: Rows) -> Iterable[Iterable[Any]]:
        found = self.proposals
        names, values = tuple(self.parts), [values[rows].tolist() for values in self.parts.values()]
        yield found.nouns[rows]
        yield found.ids[rows]
        yield found.names[rows]
        yield self.scores[rows].tolist()
        yield [dict(zip(names, parts, strict=True)) for parts in zip(*values, strict=True)]
        yield [tuple(compress(self.terms, held)) for held in (found.counts[rows] > 0).tolist()]


def rank(candidates: Candidates, plan: Plan) -> Ranking:
    """Best first; equal scores by time, then id, so that the order is always the same."""
    found = candidates.proposals
    if plan.exclude:
        found = found.take(~np.isin(found.ids, list(plan.exclude)))
    evidence = _Evidence(found, candidates, plan)
    base = evidence.words + evidence.vector
    near = _from_neighbours(found, base if "neighbour" in plan.stages else np.zeros(len(found)))
    parts = {
        "lexical": evidence.words,
        "vector": evidence.vector,
        "neighbour": near,
        "speaker": np.where(base + near > 0, evidence.speaker, 0.0),
    }
    timely = _timely(found, plan)
    parts["time"] = timely if plan.narrowed else np.where(sum(parts.values()) > 0, timely, 0.0)
    total = sum(parts.values())
    parts["recency"] = np.where((total > 0) & ("recency" in plan.stages), _RECENCY * _recency(found, plan), 0.0)
    parts = {name: np.round(values, 6) for name, values in parts.items()}
    scores = np.round(sum(parts.values()), 6)
    order = _best_first(np.flatnonzero(total > 0), scores, found)
    relevance, floor = evidence.best_relevance, _floor(candidates.documents, plan)
    return Ranking(found, plan.terms, scores, parts, order, round(relevance, 6), round(floor, 6))


def _best_first(rows: Rows, scores: Floats, found: Proposals) -> Rows:
    """Ids are compared only where nothing else tells two rows apart: that is rare, and costs most."""
    by_score, by_time = -scores[rows], -found.seconds[rows]
    order = np.lexsort((by_time, by_score))
    told_apart = np.diff(by_score[order]).astype(bool) | np.diff(by_time[order]).astype(bool)
    if not told_apart.all():
        order = np.lexsort((found.ids[rows].astype(str), by_time, by_score))
    return rows[order]


class _Evidence:
    """What is known of all candidates, on one scale."""

    def __init__(self, found: Proposals, candidates: Candidates, plan: Plan) -> None:
        documents = max(candidates.documents, 1)
        rare = np.array([rarity(documents, min(candidates.frequencies.get(term, 0), documents)) for term in plan.terms])
        asked = rare * np.array(plan.asked)
        mass = float(asked.sum())
        weights = rare * np.array(plan.weights)
        matched = np.vecdot(saturation(found.counts, found.lengths[:, None], candidates.average_length), weights)
        small = _SMALL_STORE / (documents + _SMALL_STORE)
        least = _LEAST_WORDS + _LEAST_IN_SMALL_STORE * small
        best = max(float(matched.max(initial=0.0)), least * mass) or 1.0
        share, meaning = (_WORDS, _MEANING_IN_RELEVANCE) if plan.vectors else (_WORDS + _VECTOR, 0.0)
        self.words = share * matched / best * _covered(found, weights) ** (small * small)
        named = _named(found, plan) if "speaker" in plan.stages else set()
        self.vector = _VECTOR * _nearness(found, plan, None)
        spoken = [name in named for name in found.names] if len(named) == 1 else np.zeros(len(found))
        self.speaker = _SPEAKER * np.array(spoken, np.float64)
        coverage = _covered(found, asked)
        background = candidates.background if named else None
        both = meaning * _nearness(found, plan, background) + (1 - meaning) * coverage
        embedded = np.zeros(len(found), bool)
        for cosines in found.cosines.values():
            embedded |= ~np.isnan(cosines)
        relevance = np.where(embedded, both, coverage)  # what was just said has no vector yet
        self.best_relevance = float(relevance.max(initial=0.0))


def _covered(found: Proposals, weights: Floats) -> Floats:
    """What share of the question's weight the terms of each candidate are."""
    whole = float(weights.sum())
    return np.vecdot(found.counts > 0, weights) / whole if whole else np.zeros(len(found))


def _nearness(found: Proposals, plan: Plan, background: Mapping[str, float] | None) -> Floats:
    """The cosines on one scale for all lanes: 0 is chance, 1 is the same.

    A question that names a speaker is near to all that was said; ``background`` takes that out.
    """
    nearest = np.zeros(len(found))
    for lane, (mean, deviation) in plan.scales.items():
        if lane not in found.cosines:
            continue
        chance = mean
        if background is not None and lane in background:
            chance += _FOLLOWING_BACKGROUND * (background[lane] - _NAMED_BACKGROUND[has_han(plan.query.text)])
        nearest = np.fmax(nearest, np.minimum((found.cosines[lane] - chance) / (5 * deviation), 1.0))
    return nearest


def _named(found: Proposals, plan: Plan) -> set[str]:
    """The speakers whom the question names."""
    names = {name for name in set(found.names) if name}
    words = words_of(plan.query.text) if names else frozenset()
    return {name for name in names if fold(name) in words}


def _from_neighbours(found: Proposals, base: Floats) -> Floats:
    """What each candidate gains from strong ones before and after it in its thread."""
    order = np.argsort(found.places)
    places, strong = found.places[order], base[order] ** _POWER
    gained = np.zeros(len(found))
    for step in range(1, _REACH + 1):
        later = places.searchsorted(places + step)
        later[later == len(places)] = 0
        earlier = np.flatnonzero((places >= 0) & (places[later] == places + step))
        later = later[earlier]
        fading = _FADING ** (step - 1)
        gained[later] += _AFTER * fading * strong[earlier]
        gained[earlier] += _BEFORE * fading * strong[later]
    back = np.empty(len(found))
    back[order] = gained
    return back


def _timely(found: Proposals, plan: Plan) -> Floats:
    """What each candidate gains that was said at a time of which the question speaks."""
    within = np.zeros(len(found), bool)
    for span in plan.spans:
        since = -np.inf if span.since is None else span.since.timestamp()
        until = np.inf if span.until is None else span.until.timestamp()
        within |= (since <= found.seconds) & (found.seconds < until)
    return np.where(within, _TIME, 0.0)


def _recency(found: Proposals, plan: Plan) -> Floats:
    """1 is now; what does not fade is always now."""
    age = np.maximum(0.0, plan.now.timestamp() - found.seconds)
    faded = np.ones(len(found))
    for kind in set(found.kinds):
        half_life = KINDS[kind].half_life
        if half_life is not None:
            of_kind = found.kinds == kind
            faded[of_kind] = 0.5 ** (age[of_kind] / half_life.total_seconds())
    return faded


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
