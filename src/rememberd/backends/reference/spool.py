"""The spool in this process: lost with it, and otherwise as promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.errors import StorageFull, StorageUnavailable
from rememberd.ports.spool import Attempt, DeadLetter, SpooledCall, SpoolUsage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


class Kept:
    """What outlives a close."""

    def __init__(self) -> None:
        self.waiting: dict[str, SpooledCall] = {}
        self.attempts: dict[str, Attempt] = {}
        self.dead: dict[str, DeadLetter] = {}


class ReferenceSpool:
    """At most ``limit`` calls wait."""

    def __init__(self, kept: Kept | None = None, limit: int = 100_000) -> None:
        self._kept = kept or Kept()
        self._limit = limit
        self._closed = False

    async def add(self, call: SpooledCall) -> None:
        if self._closed:
            raise StorageUnavailable("the spool is closed")
        if len(self._kept.waiting) >= self._limit:
            raise StorageFull(f"the spool holds {self._limit:,} calls, and no more")
        self._kept.waiting[call.id] = call

    async def waiting(self) -> AsyncIterator[SpooledCall]:
        for call in list(self._kept.waiting.values()):
            yield call

    async def read(self, ids: Sequence[str]) -> list[SpooledCall]:
        return [self._kept.waiting[each] for each in ids if each in self._kept.waiting]

    async def remove(self, ids: Sequence[str]) -> None:
        for each in ids:
            self._kept.waiting.pop(each, None)
            self._kept.attempts.pop(each, None)

    async def note(self, attempt: Attempt) -> None:
        self._kept.attempts[attempt.id] = attempt

    async def last_attempt(self, call_id: str) -> Attempt | None:
        return self._kept.attempts.get(call_id)

    async def bury(self, letter: DeadLetter) -> None:
        self._kept.dead[letter.call.id] = letter
        await self.remove([letter.call.id])

    async def dead_letters(self, ids: Sequence[str] | None = None) -> list[DeadLetter]:
        dead = self._kept.dead
        return list(dead.values()) if ids is None else [dead[each] for each in ids if each in dead]

    async def discard(self, ids: Sequence[str]) -> int:
        return sum(self._kept.dead.pop(each, None) is not None for each in ids)

    def usage(self) -> SpoolUsage:
        return SpoolUsage(
            waiting=len(self._kept.waiting),
            dead=len(self._kept.dead),
            size=len(self._kept.waiting),
            limit=self._limit,
            place="in process",
        )

    async def close(self) -> None:
        self._closed = True
