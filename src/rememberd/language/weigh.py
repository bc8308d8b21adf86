"""How much a word tells: BM25, for single numbers and for arrays of them alike."""

from __future__ import annotations

import math
from typing import Any

K1 = 1.2
B = 0.75


def rarity(documents: int, frequency: int) -> float:
    """The weight of a word that stands in ``frequency`` of ``documents``; never negative."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def saturation(count: Any, length: Any, average: float) -> Any:
    """What repeating a word in a text of some length still adds; from 0 towards ``K1 + 1``."""
    damping = K1 * (1 - B + B * length / max(average, 1.0))
    return count * (K1 + 1) / (count + damping)
