"""The backups of a place that is backed up in another way, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rememberd.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rememberd.ports.backups import Piece


@dataclass(frozen=True, slots=True)
class NoBackups:
    """``instead`` says what to do."""

    instead: str

    def pieces(self) -> AsyncGenerator[Piece, None]:
        raise Unsupported(self.instead)
