"""Spooling: which calls go to the spool, and what has to be known of them until the storage has them."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import structs

from rememberd import telemetry
from rememberd.errors import IdempotencyConflict, ThreadTaken
from rememberd.model import Message, Receipt, Receipts
from rememberd.ports.records import TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rememberd.model import Scope
    from rememberd.ports.records import Append, Entry
    from rememberd.ports.spool import DeadLetter, Spool, SpooledCall

_MOST_RECALLED = 1000  # calls that a query reads, the latest first
_MOMENT = 0.5  # seconds that a call waits for the storage to catch up with its thread

Address = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Use:
    """What an idempotency key stands for while its message waits."""

    digest: bytes
    message: str
    thread: str


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a waiting call without reading it."""

    tenant: str
    user: str | None
    thread: str
    keys: tuple[str, ...]
    turn: str | None


class Spooler:
    """``engaged`` while anything waits: only then need callers look further.

    ``outage`` says why the storage accepts nothing; then everything that may wait does. Otherwise only those calls do
    whose thread has calls that wait already: the order within a thread is kept. ``held`` are the threads whose next
    call was refused, and when it will be tried again.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self.engaged = False
        self.outage: str | None = None
        self.when_engaged: Callable[[], None] = lambda: None
        self._calls: dict[str, _Known] = {}
        self._threads: dict[Address, list[str]] = defaultdict(list)
        self._people: dict[tuple[str, str | None], dict[str, None]] = defaultdict(dict)
        self._uses: dict[Address, _Use] = {}
        self._turns: dict[Address, TurnState] = {}
        self.held: dict[Address, float] = {}
        self._clearing: dict[Address, asyncio.Event] = {}

    async def load(self) -> None:
        """Know what an earlier process left behind."""
        async for call in self._spool.waiting():
            self._know(call)

    def takes(self, tenant: str, thread: str, entries: Iterable[Entry] = ()) -> bool:
        """Whether a call has to wait."""
        if self.outage is not None or (tenant, thread) in self._threads:
            return True
        return any((tenant, entry.idempotency_key) in self._uses for entry in entries if entry.idempotency_key)

    async def cleared(self, tenant: str, thread: str) -> bool:
        """Wait a moment while the storage catches up with a thread: whoever keeps it busy must not outrun the storage.

        True if nothing of it waits any more.
        """
        address = (tenant, thread)
        if self.outage is not None or address in self.held:
            return False
        if address in self._threads:
            with suppress(TimeoutError):
                async with asyncio.timeout(_MOMENT):
                    await self._clearing.setdefault(address, asyncio.Event()).wait()
        return address not in self._threads

    async def keep(self, call: SpooledCall, outage: str | None = None) -> Receipts:
        """Let a call wait, durably. Messages that wait already under their idempotency key are duplicates.

        Raises ``IdempotencyConflict`` and ``ThreadTaken`` for what disagrees with the calls that wait; and as the
        spool does when it cannot take it.
        """
        append, receipts = call.append, Receipts(call.thread, ())
        if append is not None:
            append, receipts = self._sort_out(append)
        if append is not None or call.begin is not None or call.end is not None:
            begin = None if call.begin is None else replace(call.begin, thread=receipts.thread)
            call = replace(call, append=append, begin=begin, thread=receipts.thread)
            await self._spool.add(call)
            self._know(call)
            telemetry.count("messages_spooled", len(append.entries) if append else 0)
        if outage is not None and self.outage is None and self._calls:
            self.outage = outage
            telemetry.log("storage_out", level=logging.WARNING, detail=outage)
        return receipts

    def turn(self, tenant: str, turn_id: str) -> TurnState | None:
        """A turn whose beginning waits."""
        return self._turns.get((tenant, turn_id))

    async def behind(self, window: tuple[Message, ...], scope: Scope, size: int) -> tuple[Message, ...]:
        """The window of the scope's thread, with the messages that wait behind it."""
        ids = self._threads.get((scope.tenant, scope.thread or ""), [])[-size:]
        shown = {message.id for message in window}
        waiting = [
            message
            for message in messages_of(await self._spool.read(ids))
            if message.role != "system" and message.id not in shown and scope.sees(message.user, message.agent)
        ]
        return (*window, *waiting)[-size:]

    async def seen(self, scope: Scope, *, everyone: bool) -> list[Message]:
        """The messages that wait and may be recalled from here."""
        if everyone:
            ids = [call_id for call_id, known in reversed(self._calls.items()) if known.tenant == scope.tenant]
        else:
            people = {(scope.tenant, None), (scope.tenant, scope.user)}
            ids = sorted((each for who in people for each in self._people.get(who, ())), reverse=True)
        return messages_of(await self._spool.read(ids[:_MOST_RECALLED]))

    def due(self, limit: int) -> list[str]:
        """The calls to replay next, oldest first; none of the threads that are held up."""
        free = (each for each, known in self._calls.items() if (known.tenant, known.thread) not in self.held)
        return list(islice(free, limit))

    def behind_id(self, last: str, limit: int) -> list[str]:
        """The first waiting calls whose ids come behind ``last``."""
        return sorted(call_id for call_id in self._calls if call_id > last)[:limit]

    async def done(self, ids: Sequence[str]) -> None:
        """The storage has these calls."""
        await self._spool.remove(ids)
        self._forget(ids)

    async def bury(self, letter: DeadLetter) -> None:
        await self._spool.bury(letter)
        self._forget([letter.call.id])

    async def revive(self, letters: Sequence[DeadLetter]) -> None:
        """Let dead letters wait again, with their attempts forgotten."""
        for letter in letters:
            await self._spool.add(letter.call)
            await self._spool.discard([letter.call.id])
            self._know(letter.call)

    def _sort_out(self, append: Append) -> tuple[Append | None, Receipts]:
        """What of an append is new, and a receipt for each entry."""
        keys = [(append.tenant, entry.idempotency_key) for entry in append.entries if entry.idempotency_key]
        uses = {key: self._uses[key] for key in keys if key in self._uses}
        thread = append.thread
        if append.thread_made_up:
            thread = next((use.thread for use in uses.values()), thread)
        self._check_owner(append, thread)
        fresh, receipts = [], []
        for entry in append.entries:
            use = _Use(entry.digest, entry.id, thread)
            first = uses.setdefault((append.tenant, entry.idempotency_key), use) if entry.idempotency_key else use
            if first.digest != entry.digest:
                raise IdempotencyConflict(
                    f"the idempotency key {entry.idempotency_key!r} was used for another request; use a new one"
                )
            if first is use:
                fresh.append(entry)
            receipts.append(Receipt(first.message, None, "spooled" if first is use else "duplicate"))
        new = structs.replace(append, thread=thread, entries=tuple(fresh)) if fresh else None
        return new, Receipts(thread, tuple(receipts))

    def _check_owner(self, append: Append, thread: str) -> None:
        waiting = self._threads.get((append.tenant, thread))
        if waiting and self._calls[waiting[0]].user != append.user:
            raise ThreadTaken(f"the thread {thread!r} belongs to another user; use another thread id")

    def _know(self, call: SpooledCall) -> None:
        entries = call.append.entries if call.append else ()
        known = _Known(
            call.tenant,
            call.user,
            call.thread,
            tuple(entry.idempotency_key for entry in entries if entry.idempotency_key),
            call.begin.id if call.begin else None,
        )
        self._calls[call.id] = known
        self._threads[call.tenant, call.thread].append(call.id)
        self._people[call.tenant, call.user][call.id] = None
        for entry in entries:
            if entry.idempotency_key:
                use = _Use(entry.digest, entry.id, call.thread)
                self._uses.setdefault((call.tenant, entry.idempotency_key), use)
        if call.begin is not None:
            begun = call.begin
            self._turns[call.tenant, begun.id] = TurnState(
                id=begun.id, tenant=begun.tenant, thread=begun.thread, user=begun.user, agent=begun.agent,
                begun_at=begun.at,
            )  # fmt: skip
        self.engaged = True
        self.when_engaged()

    def _forget(self, ids: Iterable[str]) -> None:
        for call_id in ids:
            known = self._calls.pop(call_id, None)
            if known is None:
                continue
            address = (known.tenant, known.thread)
            self._threads[address].remove(call_id)
            if not self._threads[address]:
                del self._threads[address]
                if (clearing := self._clearing.pop(address, None)) is not None:
                    clearing.set()
            del self._people[known.tenant, known.user][call_id]
            for key in known.keys:
                self._uses.pop((known.tenant, key), None)
            self._turns.pop((known.tenant, known.turn or ""), None)
        self.engaged = bool(self._calls)
        if not self.engaged:
            self.outage = None


def messages_of(calls: Iterable[SpooledCall]) -> list[Message]:
    """The messages of waiting calls. They have no sequence number yet: 0."""
    return [
        Message(
            id=entry.id, tenant=call.tenant, thread=call.thread, seq=0, user=append.user, agent=append.agent,
            role=entry.role, name=entry.name, content=entry.content, at=entry.at, recorded_at=append.recorded_at,
            metadata=entry.metadata,
        )
        for call in calls
        if (append := call.append) is not None
        for entry in append.entries
    ]  # fmt: skip
