"""The parts an engine is made of. Wiring puts them together; engine and operations share them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rememberd.model import Policy, SettingValue
from .index import Index
from .models import Embedder
from .storage import Storage
from .surroundings import Clock, Ids
from .windows import Windows


def _nobody() -> None:
    """Nobody follows the feed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """``nudge`` wakes the followers of the feed; ``missing`` names what recall has to do without, and the cure."""

    storage: Storage
    windows: Windows
    index: Index
    clock: Clock
    ids: Ids
    embedders: Sequence[Embedder] = ()
    policy: Policy = field(default_factory=Policy)
    nudge: Callable[[], None] = _nobody
    missing: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[SettingValue, ...] = ()

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(f"{part}: {cure}" for part, cure in self.missing.items())
