"""The parts an engine is made of. Wiring puts them together; engine and operations share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rememberd.model import Policy, SettingValue

from .index import Index
from .models import Embedder
from .storage import Storage
from .surroundings import Clock, Ids
from .windows import Windows


class Nudge(Protocol):
    """Wakes the followers of the feed; ``hurry`` if somebody waits for them."""

    def __call__(self, *, hurry: bool = False) -> None: ...


def _nobody(*, hurry: bool = False) -> None:
    """Nobody follows the feed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """``missing`` names what recall has to do without, and what that means."""

    storage: Storage
    windows: Windows
    index: Index
    clock: Clock
    ids: Ids
    embedders: Sequence[Embedder] = ()
    policy: Policy = field(default_factory=Policy)
    nudge: Nudge = _nobody
    missing: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[SettingValue, ...] = ()

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(f"{part}: {symptom}" for part, symptom in self.missing.items())
