"""How much a word tells: BM25, for single numbers and for arrays of them alike."""

from __future__ import annotations

import math
from typing import Any

_K1 = 1.2
_B = 0.6


def rarity(documents: int, frequency: int) -> float:
    """The weight of a word that stands in ``frequency`` of ``documents``; never negative."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def saturation(count: Any, length: Any, average: float) -> Any:
    """What a word adds that stands ``count`` times in a text of some length: from 0 towards 1."""
    return count / (count + _K1 * (1 - _B + _B * length / max(average, 1.0)))
