"""The parts an engine is made of. Wiring puts them together; engine and operations share them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rememberd.language.tokens import Counter, estimate
from rememberd.model import Hit, Narrowed, Policy, Progress, Query, Scope, SettingValue

from .backups import Backups
from .index import Index
from .lanes import Lanes
from .spool import Spool
from .storage import Storage
from .surroundings import Clock, Ids
from .windows import Windows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime


class Nudge(Protocol):
    """Wakes the followers of the feed; ``hurry`` if somebody waits for them."""

    def __call__(self, *, hurry: bool = False) -> None: ...


def _nobody(*, hurry: bool = False) -> None:
    """Nobody follows the feed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What recall found, best first; what it had to do without; how many changes the index had not applied yet; the
    time to which the question narrowed it. ``repeated`` say the same as a better hit of their source.

    ``ranked`` candidates were ranked, of which the best were read. If the best of them covers less of the question
    (``relevance``) than the ``floor``, there are no hits; what was silenced is told if the query is to be explained.
    """

    hits: tuple[Hit, ...] = ()
    silenced: tuple[Hit, ...] = ()
    repeated: tuple[Hit, ...] = ()
    ranked: int = 0
    relevance: float = 0.0
    floor: float = 0.0
    degraded: tuple[str, ...] = ()
    unapplied: int = 0
    narrowed: Narrowed | None = None


class Recaller(Protocol):
    """Finds and ranks what bears on a question. ``everyone`` looks over all users; ``exclude`` leaves ids out.

    ``prepare`` loads what every question needs; the first would have to wait for it otherwise.
    """

    @property
    def prepare(self) -> Callable[[], Awaitable[None]]: ...

    async def __call__(
        self, scope: Scope, query: Query, clock: datetime, *, everyone: bool, exclude: frozenset[str]
    ) -> Recalled: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """``missing`` names what recall has to do without: what that means and, after a semicolon, the cure.

    ``under_way`` is the long work being done for operators, and how far it has come.
    """

    storage: Storage
    spool: Spool
    windows: Windows
    index: Index
    recall: Recaller
    backups: Backups
    lanes: Lanes
    clock: Clock
    ids: Ids
    policy: Policy = field(default_factory=Policy)
    backup_folder: Path | None = None
    nudge: Nudge = _nobody
    count_tokens: Counter = estimate
    missing: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[SettingValue, ...] = ()
    under_way: dict[str, Progress] = field(default_factory=dict)

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(f"{part}: {symptom}" for part, symptom in self.missing.items())
