"""The façade: one short method per verb, in the order of the picture. It talks to an engine and knows nothing else."""

from __future__ import annotations

import functools
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from . import telemetry
from .errors import AccessDenied, DamagedStore, NotAuthenticated, Unavailable
from .flow.accept import MessageLike, accept_filters, accept_message, accept_messages, accept_moment
from .model import (
    Context,
    MemoryItem,
    MemoryPatch,
    Message,
    NewMemory,
    NewMessage,
    Outcome,
    Page,
    Query,
    Receipt,
    Receipts,
    Scope,
    Settled,
    Stats,
    Turn,
)

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from .ports.records import Order
    from .verbs import Engine, Operations

#: What is memory's failure, not the caller's mistake: the agent goes on without it.
_MEMORY_FAILED = (Unavailable, DamagedStore, NotAuthenticated, AccessDenied)

P = ParamSpec("P")
R = TypeVar("R")

FiltersLike = Mapping[str, Any] | None


class Handle:
    """Memory bound to one scope: ``memory.of(user="lin", thread="t-42")``."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self.scope = scope

    @asynccontextmanager
    async def turn(
        self,
        content: MessageLike,
        *,
        k: int = 10,
        budget: int = 1500,
        explain: bool = False,
        idempotency_key: str | None = None,
    ) -> AsyncIterator[TurnHandle]:
        """Record a message, recall what matters for it, run the block, and record how it ended.

        If memory itself fails, the block still runs: ``turn.context.degraded`` says what was missing.
        """
        message = accept_message(content)
        query = Query(text=message.content, k=k, budget=budget, explain=explain)
        turn: Turn | None
        try:
            turn = await self._engine.begin_turn(self.scope, message, query, idempotency_key)
            context = turn.context
        except _MEMORY_FAILED as failure:
            telemetry.log("turn_without_memory", level=logging.WARNING, error=failure.code)
            turn, context = None, Context(degraded=(f"{failure.code}: {failure.detail}",))
        handle = TurnHandle(self, turn, context)
        try:
            yield handle
        except BaseException as failure:
            await handle.end("error", {"error": type(failure).__name__})
            raise
        await handle.end("ok", {})

    async def ingest(
        self, messages: Iterable[MessageLike] | MessageLike, *, idempotency_key: str | None = None
    ) -> Receipts:
        """Record messages, all or none; answered when they are durable."""
        return await self._engine.ingest(self.scope, accept_messages(messages), idempotency_key)

    async def query(
        self,
        text: str,
        *,
        k: int = 10,
        budget: int = 1500,
        filters: FiltersLike = None,
        now: datetime | None = None,
        timezone: str | None = None,
        as_of: datetime | None = None,
        floor: float | None = None,
        explain: bool = False,
    ) -> Context:
        """Find and rank what bears on ``text``, and pack it into ``budget`` tokens.

        Times in it, like "last Tuesday", are seen from ``now`` in ``timezone``: the clock and UTC, if not given. With
        ``explain`` the context tells what became of each hit, and why.
        """
        query = Query(
            text=text, k=k, budget=budget, filters=accept_filters(filters), now=accept_moment(now, "/now"),
            timezone=timezone, as_of=accept_moment(as_of, "/as_of"), floor=floor, explain=explain,
        )  # fmt: skip
        return await self._engine.query(self.scope, query)

    async def history(
        self, *, limit: int = 50, order: Order = "newest", after: str | None = None, search: str | None = None
    ) -> Page[Message]:
        """The record of this scope, newest first; ``search`` keeps the messages with all of its words."""
        return await self._engine.history(self.scope, order=order, after=after, limit=limit, search=search)

    async def window(self, *, resume: bool = False) -> tuple[Message, ...]:
        """The last messages of the thread's session, oldest first; ``resume`` brings an ended session back."""
        return await self._engine.window(self.scope, resume=resume)

    async def add(
        self,
        text: str,
        *,
        kind: str = "fact",
        source: str | None = None,
        importance: float = 0.5,
        topic: str | None = None,
        domain: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        expires_at: datetime | None = None,
        metadata: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> MemoryItem:
        """Remember something by hand; what is held already gets a new revision instead of a second item."""
        memory = NewMemory(
            text=text, kind=kind, source=source, importance=importance, topic=topic, domain=domain,
            valid_from=accept_moment(valid_from, "/valid_from"),
            valid_until=accept_moment(valid_until, "/valid_until"),
            expires_at=accept_moment(expires_at, "/expires_at"), metadata=metadata or {},
        )  # fmt: skip
        return await self._engine.add(self.scope, memory, idempotency_key)

    async def get(self, memory_id: str) -> MemoryItem:
        """A memory item as it is now; ``NotFound`` if this scope does not see one of that id."""
        return await self._engine.get(self.scope, memory_id)

    async def list(self, *, filters: FiltersLike = None, after: str | None = None, limit: int = 50) -> Page[MemoryItem]:
        """The memory items of this scope, the latest change first."""
        return await self._engine.list(self.scope, accept_filters(filters), after=after, limit=limit)

    async def revise(
        self,
        memory_id: str,
        *,
        expected: int | None = None,
        text: str | None = None,
        kind: str | None = None,
        source: str | None = None,
        importance: float | None = None,
        topic: str | None = None,
        domain: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        expires_at: datetime | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> MemoryItem:
        """Store a new revision with the given fields changed; with ``expected``, only if that is the current one."""
        patch = MemoryPatch(
            text=text, kind=kind, source=source, importance=importance, topic=topic, domain=domain,
            valid_from=accept_moment(valid_from, "/valid_from"),
            valid_until=accept_moment(valid_until, "/valid_until"),
            expires_at=accept_moment(expires_at, "/expires_at"), metadata=metadata,
        )  # fmt: skip
        return await self._engine.revise(self.scope, memory_id, patch, expected)

    async def delete(self, memory_id: str, *, expected: int | None = None) -> None:
        """Delete a memory item; its revisions are kept."""
        await self._engine.delete(self.scope, memory_id, expected)

    async def versions(self, memory_id: str) -> tuple[MemoryItem, ...]:
        """Every revision of a memory item, oldest first."""
        return await self._engine.versions(self.scope, memory_id)

    async def stats(self) -> Stats:
        """Counts of this scope's tenant; an operator's call."""
        return await self._engine.operate.stats(self.scope.tenant)


class TurnHandle:
    """A turn while its block runs."""

    def __init__(self, handle: Handle, turn: Turn | None, context: Context) -> None:
        self._handle = handle
        self._turn = turn
        self._replied = False
        self.context = context

    @property
    def id(self) -> str | None:
        """The turn's id; None if memory could not record it."""
        return self._turn.id if self._turn else None

    @property
    def receipt(self) -> Receipt | None:
        return self._turn.receipt if self._turn else None

    @property
    def thread(self) -> str | None:
        return self._turn.thread if self._turn else self._handle.scope.thread

    async def reply(self, content: MessageLike, **detail: Any) -> Receipt | None:
        """Record the agent's reply and end the turn ``ok``; ``detail`` is kept with it (agents' results and the like).

        None if memory is out of reach; the context's ``degraded`` then says so.
        """
        reply = accept_message(content, role="assistant")
        self._replied = True
        return await self._end("ok", reply, detail)

    async def end(self, outcome: Outcome, detail: dict[str, Any]) -> None:
        """End the turn without a reply; does nothing after one."""
        if not self._replied:
            await self._end(outcome, None, detail)

    async def _end(self, outcome: Outcome, reply: NewMessage | None, detail: dict[str, Any]) -> Receipt | None:
        if self._turn is None:
            return None
        scope = replace(self._handle.scope, thread=self._turn.thread)
        try:
            return await self._handle._engine.end_turn(scope, self._turn.id, outcome, reply, detail)
        except _MEMORY_FAILED as failure:
            missing = f"{failure.code}: {failure.detail}"
            self.context = replace(self.context, degraded=(*self.context.degraded, missing))
            return None


def _scoped(verb: Callable[Concatenate[Handle, P], R]) -> Callable[Concatenate[Memory, Scope, P], R]:
    """A verb of ``Handle`` as one of ``Memory``, which takes the scope as its first argument."""

    @functools.wraps(verb)
    def call(memory: Memory, scope: Scope, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return verb(Handle(memory.engine, scope), *args, **kwargs)

    return call


class Memory:
    """The memory of agents. Made by ``rememberd.connect``; an async context manager that closes what it opened."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def of(
        self, scope: Scope | None = None, *, tenant: str | None = None, user: str | None = None,
        agent: str | None = None, thread: str | None = None,
    ) -> Handle:  # fmt: skip
        """A handle bound to a scope, with the same verbs and no scope argument."""
        base = scope or Scope()
        bound = {"tenant": tenant, "user": user, "agent": agent, "thread": thread}
        return Handle(self.engine, replace(base, **{name: value for name, value in bound.items() if value is not None}))

    turn = _scoped(Handle.turn)
    ingest = _scoped(Handle.ingest)
    query = _scoped(Handle.query)
    history = _scoped(Handle.history)
    window = _scoped(Handle.window)
    add = _scoped(Handle.add)
    get = _scoped(Handle.get)
    list = _scoped(Handle.list)
    revise = _scoped(Handle.revise)
    delete = _scoped(Handle.delete)
    versions = _scoped(Handle.versions)
    stats = _scoped(Handle.stats)

    async def settle(self, timeout: float = 30.0) -> Settled:
        """Wait until everything acknowledged so far, in the whole store, is searchable by meaning too."""
        return await self.engine.operate.settle(timeout)

    @property
    def operate(self) -> Operations:
        """The operator's verbs."""
        return self.engine.operate

    async def close(self) -> None:
        await self.engine.close()

    async def __aenter__(self) -> Memory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
