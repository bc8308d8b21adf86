"""What a running server is made of, as its routes need it."""

from __future__ import annotations

from dataclasses import dataclass

from .gate import Gate, ServedEngine
from .reading import Limits


@dataclass(frozen=True, slots=True)
class Service:
    engine: ServedEngine
    gate: Gate
    limits: Limits
