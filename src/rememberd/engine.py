"""The local engine: where guard and flow meet; the remote one is in ``client/``."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from . import crash, telemetry
from .errors import Conflict, IdempotencyConflict, NotFound, StaleRevision, StorageFull, StorageUnavailable, Unavailable
from .flow.check import (
    Faults,
    check_filters,
    check_idempotency_key,
    check_memory,
    check_message,
    check_messages,
    check_page,
    check_query,
    check_scope,
)
from .flow.cursor import read_cursor, write_cursor
from .flow.fit import fit
from .flow.history import read_history
from .flow.ingest import append_of, digest_of
from .flow.narrowed import tell_narrowed
from .flow.remember import deleted, first_revision, next_revision, recognised
from .flow.window import follow_append, read_window
from .guard.access import permit_tenant
from .guard.audit import note_of
from .model import Actor, Context, MemoryItem, Page, Receipts, Scope, Turn
from .operate.operations import LocalOperations
from .patience import one_call
from .ports.holdings import Put
from .ports.parts import Recalled
from .ports.records import Append, BeginTurn, EndTurn, TurnState
from .ports.spool import SpooledCall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from .flow.spool import Spooler
    from .guard.gatekeeper import Gatekeeper
    from .model import (
        Filters,
        MemoryPatch,
        Message,
        NewMemory,
        NewMessage,
        Outcome,
        Query,
        Receipt,
        WindowRule,
    )
    from .ports.audit import Note
    from .ports.parts import Parts
    from .ports.records import Order
    from .ports.storage import Write
    from .verbs import Operations

    Closing = Callable[[], Awaitable[None]]

R = TypeVar("R")

_LONG_TAIL = 64  # how many changes recall reads for itself before it asks the index to hurry


class LocalEngine:
    """Where guard and flow meet: each call is permitted, checked, carried out and noted, in that order."""

    def __init__(self, parts: Parts, spooler: Spooler, actor: Actor, gatekeeper: Gatekeeper, on_close: Closing) -> None:
        self._parts = parts
        self._spooler = spooler
        self._actor = actor
        self._gatekeeper = gatekeeper
        self._on_close = on_close

    def acting_as(self, actor: Actor) -> LocalEngine:
        """The same engine, for another caller."""
        return LocalEngine(self._parts, self._spooler, actor, self._gatekeeper, self._on_close)

    async def authenticate(self, token: str) -> Actor | None:
        """Whose API key this is, or None."""
        return await self._gatekeeper.authenticate(token)

    async def ready(self) -> tuple[str, ...]:
        """What is degraded; raises ``Unavailable`` when not even the spool accepts."""
        usage = self._parts.spool.usage()
        try:
            if self._spooler.outage is None:
                await self._parts.storage.check()
                return ()
            outage = self._spooler.outage
        except Unavailable as failure:
            outage = failure.detail
        if usage.size >= usage.limit:
            raise StorageFull(f"{outage}; and the spool is full")
        return (f"storage: {outage}; messages wait in the spool",)

    @property
    def operate(self) -> Operations:
        recall = partial(self._recall, everyone=True)
        return LocalOperations(self._parts, self._spooler, self._actor, recall)

    @one_call
    async def ingest(self, scope: Scope, messages: Sequence[NewMessage], idempotency_key: str | None) -> Receipts:
        faults = self._faults(scope)
        check_messages(faults, messages, idempotency_key)
        faults.raise_if_any()
        crash.point("ingest.accepted")
        append = self._append(scope, messages, idempotency_key)
        return await self._record(self._note("ingest", scope.within(append.thread), messages=len(messages)), append)

    @one_call
    async def query(self, scope: Scope, query: Query) -> Context:
        faults = self._faults(scope)
        check_query(faults, query)
        faults.raise_if_any()
        return await self._recall(scope, query)

    @one_call
    async def history(
        self, scope: Scope, *, order: Order, after: str | None, limit: int, search: str | None
    ) -> Page[Message]:
        faults = self._faults(scope)
        check_page(faults, limit)
        faults.text("/search", search, longest=faults.limits.query, optional=True)
        faults.raise_if_any()
        page = await read_history(
            self._parts.storage, self._parts.index, scope, order=order, after=after, limit=limit, search=search
        )
        self._note_soon("history", scope, messages=len(page.items))
        return page

    @one_call
    async def window(self, scope: Scope, *, resume: bool) -> tuple[Message, ...]:
        faults = self._faults(scope)
        faults.id("/thread", scope.thread, optional=False)
        faults.raise_if_any()
        return await self._window(scope, resume=resume)

    @one_call
    async def add(self, scope: Scope, memory: NewMemory, idempotency_key: str | None) -> MemoryItem:
        faults = self._faults(scope)
        check_memory(faults, memory)
        check_idempotency_key(faults, idempotency_key)
        faults.raise_if_any()
        item = first_revision(scope, memory, self._parts.ids(), self._parts.clock())
        again = await recognised(self._parts.storage, self._parts.index, item)
        put = Put(item=again or item, idempotency_key=idempotency_key, digest=digest_of(scope, memory))
        try:
            return await self._write(put, self._note("memory.add", scope, memory=put.item.id))
        except StaleRevision:  # it was revised meanwhile, and may say something else by now
            return await self._write(replace(put, item=item), self._note("memory.add", scope, memory=item.id))

    @one_call
    async def get(self, scope: Scope, memory_id: str) -> MemoryItem:
        return await self._seen(scope, memory_id)

    @one_call
    async def list(self, scope: Scope, filters: Filters, *, after: str | None, limit: int) -> Page[MemoryItem]:
        faults = self._faults(scope)
        check_filters(faults, filters)
        check_page(faults, limit)
        faults.raise_if_any()
        of = ("memories", scope, filters)
        found = await self._parts.storage.holdings.list(
            scope, filters, after=read_cursor(after, int, *of), limit=limit + 1, now=self._parts.clock()
        )
        page = found[:limit]
        self._note_soon("memory.list", scope, memories=len(page))
        return Page(tuple(page), write_cursor(page[-1].position, *of) if len(found) > limit else None)

    @one_call
    async def revise(self, scope: Scope, memory_id: str, patch: MemoryPatch, expected: int | None) -> MemoryItem:
        faults = self._faults(scope)
        check_memory(faults, patch)
        faults.raise_if_any()
        item = await self._expected(scope, memory_id, expected)
        revision = next_revision(item, patch, self._parts.clock())
        return await self._write(Put(item=revision), self._note("memory.revise", scope, memory=memory_id))

    @one_call
    async def delete(self, scope: Scope, memory_id: str, expected: int | None) -> None:
        item = await self._expected(scope, memory_id, expected)
        await self._write(
            Put(item=deleted(item, self._parts.clock())), self._note("memory.delete", scope, memory=memory_id)
        )

    @one_call
    async def versions(self, scope: Scope, memory_id: str) -> tuple[MemoryItem, ...]:
        faults = self._faults(scope)
        faults.id("/id", memory_id, optional=False)
        faults.raise_if_any()
        versions = await self._parts.storage.holdings.versions(scope.tenant, memory_id)
        if not versions or not scope.sees(versions[-1].user, versions[-1].agent):
            raise NotFound(f"no memory {memory_id!r} in this scope")
        self._note_soon("memory.versions", scope, memory=memory_id)
        return tuple(versions)

    @one_call
    async def begin_turn(self, scope: Scope, message: NewMessage, query: Query, idempotency_key: str | None) -> Turn:
        faults = self._faults(scope)
        check_message(faults, message, "/message")
        check_query(faults, query)
        check_idempotency_key(faults, idempotency_key)
        faults.raise_if_any()
        if scope.thread is None:
            scope = scope.within(self._thread_for(scope, idempotency_key))
        append = self._append(scope, [message], idempotency_key)
        turn_id = self._parts.ids()
        begin = BeginTurn(
            id=turn_id, tenant=scope.tenant, thread=append.thread, user=scope.user, agent=scope.agent,
            at=append.recorded_at,
        )  # fmt: skip
        receipts = await self._record(self._note("turn.begin", scope, turn=turn_id), append, begin)
        receipt = receipts.receipts[0]
        context = await self._recall(scope, query, exclude=frozenset([receipt.id]))
        return Turn(turn_id, append.thread, receipt, context)

    @one_call
    async def end_turn(
        self, scope: Scope, turn_id: str, outcome: Outcome, reply: NewMessage | None, detail: dict[str, Any]
    ) -> Receipt | None:
        faults = self._faults(scope)
        faults.id("/id", turn_id, optional=False)
        faults.metadata("/detail", detail)
        if reply is not None:
            check_message(faults, reply, "/reply")
        faults.raise_if_any()
        turn = await self._turn(scope, turn_id)
        if turn is None or not scope.sees(turn.user, turn.agent):
            raise NotFound(f"no turn {turn_id!r} in this scope")
        scope = Scope(turn.tenant, turn.user, turn.agent, turn.thread)
        end = EndTurn(id=turn_id, tenant=scope.tenant, outcome=outcome, at=self._parts.clock(), detail=detail)
        note = self._note("turn.end", scope, turn=turn_id, outcome=outcome)
        if reply is None:
            await self._record(note, None, end)
            return None
        once = self._append(scope, [replace(reply, idempotency_key=f"turn {turn_id}")], None)
        try:
            return (await self._record(note, once, end)).receipts[0]
        except IdempotencyConflict as failure:
            raise Conflict("this turn was replied to already, with something else") from failure

    async def close(self) -> None:
        await self._on_close()

    # What several verbs share.

    def _faults(self, scope: Scope) -> Faults:
        permit_tenant(self._actor, scope.tenant)
        faults = Faults()
        check_scope(faults, scope)
        return faults

    def _rule(self, scope: Scope) -> WindowRule:
        return self._parts.policy.window_of(scope.tenant)

    def _append(self, scope: Scope, messages: Sequence[NewMessage], idempotency_key: str | None) -> Append:
        return append_of(
            scope, messages, idempotency_key, now=self._parts.clock(), ids=self._parts.ids,
            session_ttl=self._rule(scope).ttl,
        )  # fmt: skip

    async def _record(self, note: Note, append: Append | None, turn: BeginTurn | EndTurn | None = None) -> Receipts:
        """Write to the record; or, while the storage cannot be written, to the spool."""
        if self._spooler.engaged and await self._must_wait(note, append):
            return await self._spool(note, append, turn)
        also = (note,) if turn is None else (turn, note)
        try:
            if append is None:
                await self._write(*also)
                return Receipts(note.entry.thread or "", ())
            receipts = await self._write(append, *also)
        except Unavailable as failure:
            try:
                return await self._spool(note, append, turn, outage=failure.detail)
            except StorageUnavailable as refused:
                raise failure from refused
        await follow_append(self._parts.windows, append, receipts, self._parts.policy.window_of(append.tenant))
        telemetry.count("messages_recorded", sum(receipt.status == "recorded" for receipt in receipts.receipts))
        return receipts

    async def _must_wait(self, note: Note, append: Append | None) -> bool:
        spooler, tenant = self._spooler, note.entry.tenant
        thread, entries = (note.entry.thread or "", ()) if append is None else (append.thread, append.entries)
        if not spooler.takes(tenant, thread, entries):
            return False
        return not await spooler.cleared(tenant, thread) or spooler.takes(tenant, thread, entries)

    async def _spool(
        self, note: Note, append: Append | None, turn: BeginTurn | EndTurn | None, outage: str | None = None
    ) -> Receipts:
        call = SpooledCall(
            id=self._parts.ids(),
            tenant=note.entry.tenant,
            user=note.entry.user,
            thread=append.thread if append else note.entry.thread or "",
            at=note.entry.at,
            note=note,
            append=append,
            begin=turn if isinstance(turn, BeginTurn) else None,
            end=turn if isinstance(turn, EndTurn) else None,
        )
        return await self._spooler.keep(call, outage)

    async def _write(self, first: Write[R], *also: Write[Any]) -> R:
        answer = await self._parts.storage.write(first, *also)
        self._parts.nudge()
        return answer

    async def _recall(
        self, scope: Scope, query: Query, *, everyone: bool = False, exclude: frozenset[str] = frozenset()
    ) -> Context:
        """Memory never stops the conversation: what cannot be reached is left out, and the context says so."""
        parts = self._parts
        with telemetry.timed("recall"):
            try:
                recalled = await parts.recall(scope, query, parts.clock(), everyone=everyone, exclude=exclude)
            except Unavailable as failure:
                recalled = Recalled(degraded=_missing(failure))
            parts.nudge(hurry=recalled.unapplied > _LONG_TAIL)
            degraded = parts.degraded + recalled.degraded
            try:
                window = () if query.as_of else await self._window(scope, resume=False)
                self._note_soon("query", scope, hits=min(query.k, len(recalled.hits)), everyone=everyone)
            except Unavailable as failure:
                window = await self._spooler.behind((), scope, self._rule(scope).size)
                degraded += tuple(part for part in _missing(failure) if part not in degraded)
            context = fit(query, recalled, window, parts.count_tokens, degraded)
            context = tell_narrowed(context, recalled.narrowed, query, parts.count_tokens)
        telemetry.count("recall_degraded", len(degraded) > len(parts.degraded))
        telemetry.count("tokens_raw", context.tokens.raw)
        telemetry.count("tokens_condensed", context.tokens.condensed)
        return context

    async def _window(self, scope: Scope, *, resume: bool) -> tuple[Message, ...]:
        parts, rule = self._parts, self._rule(scope)
        window = await read_window(parts.storage, parts.windows, scope, rule, parts.clock(), resume=resume)
        return await self._spooler.behind(window, scope, rule.size) if self._spooler.engaged else window

    async def _turn(self, scope: Scope, turn_id: str) -> TurnState | None:
        """A turn that was begun. While it cannot be read, the caller is believed, and the storage has the last word."""
        waiting = self._spooler.turn(scope.tenant, turn_id)
        if waiting is not None:
            return waiting
        try:
            return await self._parts.storage.records.turn(scope.tenant, turn_id)
        except Unavailable:
            if scope.thread is None:
                raise
            return TurnState(
                id=turn_id, tenant=scope.tenant, thread=scope.thread, user=scope.user, agent=scope.agent,
                begun_at=self._parts.clock(),
            )  # fmt: skip

    async def _seen(self, scope: Scope, memory_id: str) -> MemoryItem:
        faults = self._faults(scope)
        faults.id("/id", memory_id, optional=False)
        faults.raise_if_any()
        item = await self._parts.storage.holdings.get(scope.tenant, memory_id)
        if (
            item is None
            or item.deleted
            or not scope.sees(item.user, item.agent)
            or item.expired_at(self._parts.clock())
        ):
            raise NotFound(f"no memory {memory_id!r} in this scope")
        self._note_soon("memory.get", scope, memory=memory_id)
        return item

    async def _expected(self, scope: Scope, memory_id: str, expected: int | None) -> MemoryItem:
        item = await self._seen(scope, memory_id)
        if expected is not None and item.revision != expected:
            raise StaleRevision(f"memory {memory_id!r} is at revision {item.revision}, not {expected}; read it again")
        return item

    def _thread_for(self, scope: Scope, idempotency_key: str | None) -> str:
        """A made-up thread; a retry with the same idempotency key gets the same one."""
        if idempotency_key is None:
            return self._parts.ids()
        return hashlib.blake2b(f"{scope.tenant}\0{idempotency_key}".encode(), digest_size=16).hexdigest()

    def _note(self, action: str, scope: Scope, **detail: Any) -> Note:
        return note_of(self._parts.ids(), self._actor, action, scope, self._parts.clock(), **detail)

    def _note_soon(self, action: str, scope: Scope, **detail: Any) -> None:
        self._parts.storage.write_soon(self._note(action, scope, **detail))


def _missing(failure: Unavailable) -> tuple[str, ...]:
    return (f"{failure.code}: {failure.detail}",)
