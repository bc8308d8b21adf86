"""What shows that nothing acknowledged is ever lost: faults, made on purpose, and what each of them cost."""

from __future__ import annotations

from .proof import Measure, Part, parts, scratch_place
from .served import Place
from .verdict import Row

__all__ = ["Measure", "Part", "Place", "Row", "parts", "scratch_place"]
