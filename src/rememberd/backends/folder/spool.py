"""The spool in a folder: a journal of waiting calls and one of dead letters, each with what became of its records."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec

from rememberd import crash, telemetry
from rememberd.errors import StorageFull, StorageUnavailable
from rememberd.ports.spool import Attempt, DeadLetter, SpooledCall, SpoolUsage

from .files import Files
from .journal import Journal, Spot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

R = TypeVar("R")

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PAGE = 100


class _Line(msgspec.Struct, omit_defaults=True):
    """One record of a journal: something new, or what became of something."""

    call: SpooledCall | None = None
    letter: DeadLetter | None = None
    attempt: Attempt | None = None
    gone: tuple[str, ...] = ()


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode


class _Shelf:
    """What of a journal is still wanted: the spot of each thing by its id, in order. Files go oldest first."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.spots: dict[str, Spot] = {}
        self._wanted: Counter[int] = Counter()

    def put(self, thing: str, spot: Spot) -> None:
        self.take(thing)
        self.spots[thing] = spot
        self._wanted[spot.file] += 1

    def take(self, thing: str) -> None:
        spot = self.spots.pop(thing, None)
        if spot is not None:
            self._wanted[spot.file] -= 1

    def clear_away(self) -> None:
        """Remove the oldest files while nothing in them is wanted: a later one may tell what became of an earlier."""
        for number in sorted(self.journal.sizes):
            if self._wanted[number]:
                return
            self.journal.drop(number)

    def lines(self) -> Iterator[tuple[Spot, _Line]]:
        """All that the journal tells, in order. What we cannot read is kept aside, like any other damage."""
        for spot, record in self.journal.load():
            try:
                yield spot, _decode(record)
            except msgspec.MsgspecError:
                self.journal.keep_aside(spot, record)

    def line(self, thing: str) -> _Line:
        return _decode(self.journal.read(self.spots[thing]))


class FolderSpool:
    """Calls that come together share one ``fsync``. All work on the disk is done by one thread."""

    def __init__(
        self, folder: Path, *, files: Files | None = None, file_bytes: int, max_bytes: int, memory_limit: int
    ) -> None:
        files = files or Files()
        self._folder = folder
        self._max_bytes = max_bytes
        self._memory_limit = memory_limit
        self._waiting = _Shelf(Journal(files, folder, "spool", file_bytes))
        self._dead = _Shelf(Journal(files, folder, "dead", file_bytes))
        self._attempts: dict[str, Attempt] = {}
        self._held: dict[str, SpooledCall] = {}
        self._coming: list[tuple[SpooledCall, asyncio.Future[None]]] = []
        self._adding: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rememberd-spool")
        self._warned = False
        self._closed = False

    @classmethod
    async def open(
        cls, folder: Path, *, files: Files | None = None, file_bytes: int, max_bytes: int, memory_limit: int
    ) -> FolderSpool:
        spool = cls(folder, files=files, file_bytes=file_bytes, max_bytes=max_bytes, memory_limit=memory_limit)
        await spool._on_disk(spool._load)
        return spool

    async def add(self, call: SpooledCall) -> None:
        self._check_open()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._coming.append((call, done))
        if self._adding is None:
            self._adding = asyncio.create_task(self._add_together(), name="rememberd-spool")
        await asyncio.shield(done)

    async def waiting(self) -> AsyncIterator[SpooledCall]:
        ids = list(self._waiting.spots)
        for start in range(0, len(ids), _PAGE):
            for call in await self.read(ids[start : start + _PAGE]):
                yield call

    async def read(self, ids: Sequence[str]) -> list[SpooledCall]:
        held = [self._held.get(call_id) for call_id in ids]
        ready = [call for call in held if call is not None]
        return ready if len(ready) == len(ids) else await self._on_disk(partial(self._read, ids))

    async def remove(self, ids: Sequence[str]) -> None:
        await self._on_disk(partial(self._remove, ids))

    async def note(self, attempt: Attempt) -> None:
        await self._on_disk(partial(self._tell, self._waiting, _Line(attempt=attempt)))
        self._attempts[attempt.id] = attempt

    async def last_attempt(self, call_id: str) -> Attempt | None:
        return self._attempts.get(call_id)

    async def bury(self, letter: DeadLetter) -> None:
        await self._on_disk(partial(self._bury, letter))

    async def dead_letters(self, ids: Sequence[str] | None = None) -> list[DeadLetter]:
        return await self._on_disk(partial(self._letters, ids))

    async def discard(self, ids: Sequence[str]) -> int:
        return await self._on_disk(partial(self._discard, ids))

    def usage(self) -> SpoolUsage:
        journals = (self._waiting.journal, self._dead.journal)
        return SpoolUsage(
            waiting=len(self._waiting.spots),
            dead=len(self._dead.spots),
            size=sum(sum(list(journal.sizes.values())) for journal in journals),
            limit=self._max_bytes,
            files=sum(len(journal.sizes) for journal in journals),
            damaged=sum(journal.damaged for journal in journals),
            place=str(self._folder),
        )

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._adding is not None:
            await self._adding
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _check_open(self) -> None:
        if self._closed:
            raise StorageUnavailable("the spool is closed")

    async def _on_disk(self, work: Callable[[], R]) -> R:
        self._check_open()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except OSError as error:
            raise _translated(error) from error

    async def _add_together(self) -> None:
        """One round for all that came while the round before was on its way."""
        loop = asyncio.get_running_loop()
        while self._coming:
            coming, self._coming = self._coming, []
            failure: Exception | None = None
            try:
                await loop.run_in_executor(self._thread, self._add, [call for call, _ in coming])
            except OSError as error:
                failure = _translated(error)
            except Exception as error:  # noqa: BLE001 - every caller is told
                failure = error
            for _, done in coming:
                if failure is None:
                    done.set_result(None)
                else:
                    done.set_exception(failure)
                    done.exception()  # a caller that has gone does not ask for it
        self._adding = None

    # On the spool's own thread:

    def _load(self) -> None:
        for spot, line in self._waiting.lines():
            if line.call is not None:
                self._wait(line.call, spot)
            elif line.attempt is not None:
                self._attempts[line.attempt.id] = line.attempt
            for call_id in line.gone:
                self._let_go(call_id)
        for spot, line in self._dead.lines():
            if line.letter is not None:
                self._dead.put(line.letter.call.id, spot)
            for call_id in line.gone:
                self._dead.take(call_id)
        for call_id in self._dead.spots:
            self._let_go(call_id)
        with suppress(OSError):
            self._clear_away()
        if damaged := self._waiting.journal.damaged + self._dead.journal.damaged:
            telemetry.log("spool_damaged", level=logging.ERROR, pieces=damaged, folder=str(self._folder))

    def _add(self, calls: Sequence[SpooledCall]) -> None:
        records = [_encode(_Line(call=call)) for call in calls]
        self._check_room(sum(map(len, records)))
        for call, spot in zip(calls, self._waiting.journal.append(records), strict=True):
            self._wait(call, spot)

    def _check_room(self, more: int) -> None:
        usage = self.usage()
        if usage.size + more > self._max_bytes:
            telemetry.count("spool_refused")
            telemetry.log("spool_full", level=logging.ERROR, size=usage.size, limit=self._max_bytes)
            raise StorageFull(
                f"the spool has reached failure_queue.max_bytes ({self._max_bytes:,}); bring the storage back, "
                "or raise the limit"
            )
        nearly = usage.size + more > 0.8 * self._max_bytes
        if nearly and not self._warned:
            telemetry.log("spool_nearly_full", level=logging.WARNING, size=usage.size, limit=self._max_bytes)
        self._warned = nearly

    def _wait(self, call: SpooledCall, spot: Spot) -> None:
        self._waiting.put(call.id, spot)
        if len(self._held) < self._memory_limit:
            self._held[call.id] = call

    def _let_go(self, call_id: str) -> None:
        self._waiting.take(call_id)
        self._held.pop(call_id, None)
        self._attempts.pop(call_id, None)

    def _read(self, ids: Sequence[str]) -> list[SpooledCall]:
        calls = []
        for call_id in ids:
            if call_id in self._waiting.spots:
                call = self._held.get(call_id) or self._waiting.line(call_id).call
                assert call is not None
                calls.append(call)
        return calls

    def _remove(self, ids: Sequence[str], *, sync: bool = False) -> None:
        for call_id in ids:
            self._let_go(call_id)
        with suppress(OSError):  # it only saves replaying them again
            if self._waiting.spots:
                self._tell(self._waiting, _Line(gone=tuple(ids)), sync=sync)
            self._clear_away()

    def _tell(self, shelf: _Shelf, line: _Line, *, sync: bool = False) -> None:
        shelf.journal.append([_encode(line)], sync=sync)

    def _bury(self, letter: DeadLetter) -> None:
        """The letter is on disk before its call is let go: in between it is both, and both is harmless."""
        [spot] = self._dead.journal.append([_encode(_Line(letter=letter))])
        self._dead.put(letter.call.id, spot)
        crash.point("spool.dead_letter")
        self._remove([letter.call.id], sync=True)

    def _letters(self, ids: Sequence[str] | None) -> list[DeadLetter]:
        wanted = self._dead.spots if ids is None else [each for each in ids if each in self._dead.spots]
        letters = (self._dead.line(each).letter for each in wanted)
        return [letter for letter in letters if letter is not None]

    def _discard(self, ids: Sequence[str]) -> int:
        known = [each for each in ids if each in self._dead.spots]
        if len(known) < len(self._dead.spots):
            self._tell(self._dead, _Line(gone=tuple(known)), sync=True)
        for each in known:
            self._dead.take(each)
        self._clear_away()
        return len(known)

    def _clear_away(self) -> None:
        self._waiting.clear_away()
        self._dead.clear_away()

    def _close(self) -> None:
        self._waiting.journal.close()
        self._dead.journal.close()


def _translated(error: OSError) -> StorageFull | StorageUnavailable:
    if error.errno in _FULL:
        return StorageFull("the disk of the spool is full; free some space and try again")
    return StorageUnavailable(f"the spool cannot be used now: {error.strerror}")
