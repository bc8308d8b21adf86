"""The feed: the ordered list of changes that views follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .storage import Write

if TYPE_CHECKING:
    from rememberd.model import Change


@dataclass(frozen=True, slots=True)
class Advance(Write[None]):
    """Remember how far a follower that keeps no watermark of its own has come; it never goes back."""

    follower: str
    position: int


class Feed(Protocol):
    """Positions are given in commit order: once a reader has seen position n, no smaller one will appear later."""

    async def head(self) -> int:
        """The position of the last committed change; 0 when there is none."""
        ...

    async def read(self, after: int, limit: int) -> list[Change]:
        """The changes with positions above ``after``, in order, at most ``limit``."""
        ...

    async def texts(self, after: int, limit: int) -> tuple[list[Change], int]:
        """The changes of texts (any but ``embed``) with positions above ``after``, in order, at most ``limit``; and a
        position up to which there are no others."""
        ...

    async def puts(self, after: int) -> int:
        """How many of the changes with positions above ``after`` are a ``put``."""
        ...

    async def reached(self, follower: str) -> int:
        """How far a follower has come; 0 if it never began."""
        ...
