"""How alike two texts are: one measure for all who need to know whether the same was said twice. Deterministic.

A text is compared by its terms and by their pairs, which keep the order. What turns the meaning round, a number or a
"not", has to be equal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from .segment import fold, ordered_terms

_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*")
_TURNING = re.compile(
    r"[不没无非别勿未零一二两三四五六七八九十百千万亿半]"
    r"|\b(?:not|no|never|without|neither|nor|none|nothing|cannot|stop(?:ped|s)?|dislikes?|hates?)\b|n['’]t\b"
)
_LEAST = 0.8  # of what stands in either text must stand in both


@dataclass(frozen=True, slots=True)
class Shape:
    """A text as it is compared: its terms, these in pairs, and what must be equal for two texts to say the same."""

    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    turning: tuple[str, ...]


def shape(text: str) -> Shape:
    """Make it once for a text that is compared often."""
    terms, folded = ordered_terms(text), fold(text)
    turning = _FIGURES.findall(folded) + _TURNING.findall(folded)
    return Shape(frozenset(terms), frozenset(pairwise(terms)), tuple(sorted(turning)))


def likeness(first: Shape, second: Shape) -> float:
    """What two texts share, as a part of what stands in either: from 0 to 1."""
    both = len(first.terms & second.terms) + len(first.pairs & second.pairs)
    either = len(first.terms | second.terms) + len(first.pairs | second.pairs)
    return both / either if either else 0.0


def adds_nothing(text: Shape, to: Shape) -> bool:
    """Whether a text says what another one says, and no more.

    They may differ in case, punctuation and small words, and in a few words that only the other has; not in a word of
    the text itself, in a number or in a "not".
    """
    return text.terms <= to.terms and text.turning == to.turning and likeness(text, to) >= _LEAST
