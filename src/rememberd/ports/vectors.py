"""Vectors of messages and memory items: made once per text, lane and model, and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rememberd.model.change import Noun

from .storage import Write

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """``data`` is the vector as little-endian float32 bytes; ``model`` is the hash of what made it."""

    tenant: str
    noun: Noun
    id: str
    lane: str
    model: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PutVectors(Write[None]):
    """Keep vectors, replacing those of the same thing and lane, and say so in the feed: one ``embed`` per thing."""

    vectors: tuple[Vector, ...]


class Vectors(Protocol):
    async def get(self, tenant: str, ids: Sequence[str]) -> list[Vector]:
        """Every lane's vector of these things, in no particular order."""
        ...
