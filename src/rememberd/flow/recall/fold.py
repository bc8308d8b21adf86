"""Folding: what one source says twice is told once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd.language.similar import Shape, adds_nothing
from rememberd.model import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rememberd.model import Hit

_LENGTH = 0.25  # texts whose lengths differ by more say different things
_SCORE = 0.05  # and so do those that are not alike to the question


class Fold:
    """Takes hits, best first, and keeps those that say something new.

    The source of a message is its speaker in its thread: the same words in another thread were said at another time,
    which may be the point. The source of a memory item is its owner and kind.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, list[Hit]] = {}
        self._shapes: dict[str, Shape] = {}
        self._again: Counter[str] = Counter()
        self.repeated: list[Hit] = []

    def takes(self, hit: Hit) -> bool:
        """Whether the hit says something that no better one of its source says."""
        kept = self._kept.setdefault(_source(hit), [])
        for better in kept:
            if _may_be_alike(hit, better) and adds_nothing(self._shape(hit), self._shape(better)):
                self._again[better.id] += 1
                self.repeated.append(hit)
                return False
        kept.append(hit)
        return True

    def told(self, hits: list[Hit]) -> list[Hit]:
        """The hits that were kept; each says how often it was said besides."""
        if not self._again:
            return hits
        return [
            replace(hit, why="; ".join(filter(None, (hit.why, f"stands for {again} more that say the same"))))
            if (again := self._again[hit.id])
            else hit
            for hit in hits
        ]

    def _shape(self, hit: Hit) -> Shape:
        if hit.id not in self._shapes:
            self._shapes[hit.id] = Shape(hit.text)
        return self._shapes[hit.id]


def _source(hit: Hit) -> Hashable:
    return (hit.thread, hit.role, hit.name) if hit.kind == MESSAGE else (hit.kind, hit.user, hit.agent)


def _may_be_alike(hit: Hit, other: Hit) -> bool:
    """A cheap look before the texts are compared: alike texts are about as long, and as near to the question."""
    length, other_length = len(hit.text), len(other.text)
    if abs(length - other_length) > _LENGTH * max(length, other_length):
        return False
    for part in ("lexical", "vector"):
        score, other_score = hit.parts[part], other.parts[part]
        if score and other_score and abs(score - other_score) > _SCORE:
            return False
    return True
