"""How alike two texts are: one measure for all who need to know whether the same was said twice. Deterministic.

A text is compared by its terms and by their pairs, which keep the order. What turns the meaning round, a number or a
"not", has to be equal.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise

from .segment import fold, ordered_terms

_FIGURES = re.compile(r"\d\d*(?:[.,:]\d+)*")  # begins with one figure: ``re`` leaps to those
_TURNING = re.compile(
    r"[不没无非别勿未零一二两三四五六七八九十百千万亿半]"
    r"|\b(?:not|no|never|without|neither|nor|none|nothing|cannot|stop(?:ped|s)?|dislikes?|hates?)\b|n['’]t\b"
)
_LEAST = 0.8  # of what stands in either text must stand in both


class Shape:
    """A text as it is compared: its terms, these in pairs, and what must be equal for two texts to say the same.

    All but the figures is made when looked at: most texts differ in what costs least to see.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.figures = sorted(_FIGURES.findall(fold(text)))

    @cached_property
    def turning(self) -> list[str]:
        return sorted(_TURNING.findall(fold(self._text)))

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(self._ordered)

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset(pairwise(self._ordered))

    @cached_property
    def _ordered(self) -> list[str]:
        return ordered_terms(self._text)


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
    return (
        text.figures == to.figures
        and text.terms <= to.terms
        and text.turning == to.turning
        and likeness(text, to) >= _LEAST
    )
