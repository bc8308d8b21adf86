"""The spool: calls that wait on disk for the storage, and the dead letters among them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from rememberd.model import Receipts

from .audit import Note
from .records import Append, BeginTurn, EndTurn
from .storage import Write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledCall:
    """What one ``ingest`` or ``turn`` would have written. ``thread`` is where it belongs, ``at`` when it came."""

    id: str
    tenant: str
    user: str | None
    thread: str
    at: datetime
    note: Note
    append: Append | None = None
    begin: BeginTurn | None = None
    end: EndTurn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(Write[tuple[Receipts | None, ...]]):
    """Carry out spooled calls, in order. One that was carried out before is left alone, and answered with None.

    A call was carried out before if its messages are all recorded under their ids, and its turn has begun or ended; so
    a replay is harmless whatever became of an earlier attempt. Only a turn of the call's own user and thread is ended:
    any other is ``NotFound``. A call without messages is answered with empty receipts.
    """

    calls: tuple[SpooledCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A call that the storage refused for the ``number``-th time: ``reason`` is a code, ``detail`` a sentence."""

    id: str
    number: int
    reason: str
    detail: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A call that failed for good, and its last attempt."""

    call: SpooledCall
    last: Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolUsage:
    """``size`` of the ``limit`` bytes are used, by waiting calls and dead letters together.

    ``damaged`` counts the pieces that could not be read when the spool was opened, and were kept aside.
    """

    waiting: int = 0
    dead: int = 0
    size: int = 0
    limit: int = 0
    files: int = 0
    damaged: int = 0
    place: str = ""


class Spool(Protocol):
    """Keeps calls in the order they were added, until each is removed or buried. One process at a time uses a place."""

    async def add(self, call: SpooledCall) -> None:
        """Keep a call at the end; durable when this returns.

        Raises ``StorageFull`` when the place or its limit is exhausted, ``StorageUnavailable`` when it cannot be
        written; then nothing was kept.
        """
        ...

    def waiting(self) -> AsyncIterator[SpooledCall]:
        """Every call that waits, oldest first."""
        ...

    async def read(self, ids: Sequence[str]) -> list[SpooledCall]:
        """Those of the calls that wait, in the order asked for."""
        ...

    async def remove(self, ids: Sequence[str]) -> None:
        """Let go of calls that were carried out. A crash may bring them back: replaying them again is harmless."""
        ...

    async def note(self, attempt: Attempt) -> None:
        """Remember that a waiting call was refused. A crash may cost this."""
        ...

    async def last_attempt(self, call_id: str) -> Attempt | None:
        """The last refusal of a waiting call, if there was one."""
        ...

    async def bury(self, letter: DeadLetter) -> None:
        """Make a waiting call a dead letter; durable when this returns. Raises as ``add`` does, and changes nothing."""
        ...

    async def dead_letters(self, ids: Sequence[str] | None = None) -> list[DeadLetter]:
        """Dead letters in the order they were buried: those of these ids, or all."""
        ...

    async def discard(self, ids: Sequence[str]) -> int:
        """Let go of dead letters for good; answers how many there were."""
        ...

    def usage(self) -> SpoolUsage: ...

    async def close(self) -> None: ...
