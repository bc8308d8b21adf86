"""The engine of a folder that another process owns and serves: it outlives that owner."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

from uuid_utils import uuid7

from rememberd.errors import ServerUnreachable

from .remote import RemoteEngine

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from rememberd.model import (
        ApiKey,
        AuditEntry,
        Context,
        Diagnosis,
        Failure,
        FailureState,
        Filters,
        Job,
        JobState,
        LaneProgress,
        MemoryItem,
        MemoryPatch,
        Message,
        NewApiKey,
        NewMemory,
        NewMessage,
        Outcome,
        Page,
        Progress,
        Query,
        Receipt,
        Receipts,
        Scope,
        Settled,
        Stats,
        Turn,
    )
    from rememberd.ports.backups import Piece
    from rememberd.ports.records import Order
    from rememberd.verbs import Engine, Operations, View

R = TypeVar("R")


class Owner:
    """Whoever owns the folder now. When an owner is gone, ``open_again`` finds the next, or becomes it."""

    def __init__(self, engine: Engine, open_again: Callable[[], Awaitable[Engine]]) -> None:
        self.engine = engine
        self._open_again = open_again
        self._gone: list[Engine] = []
        self._looking = asyncio.Lock()

    async def ask(self, call: Callable[[Engine], Awaitable[R]]) -> R:
        """Ask what may be asked twice."""
        engine = self.engine
        try:
            return await call(engine)
        except ServerUnreachable:
            return await call(await self._after(engine))

    async def tell(self, call: Callable[[Engine], Awaitable[R]]) -> R:
        """Tell what must not be told twice: only to an owner who has just answered."""
        return await call(await self.alive())

    async def alive(self) -> Engine:
        engine = self.engine
        if isinstance(engine, RemoteEngine):
            try:
                await engine.ping()
            except ServerUnreachable:
                return await self._after(engine)
        return engine

    async def close(self) -> None:
        for engine in (*self._gone, self.engine):
            await engine.close()

    async def _after(self, gone: Engine) -> Engine:
        async with self._looking:
            if self.engine is gone:
                self.engine = await self._open_again()
                self._gone.append(gone)
            return self.engine


class SharedEngine:
    """The verbs of memory through the folder's owner."""

    def __init__(self, engine: Engine, open_again: Callable[[], Awaitable[Engine]]) -> None:
        self._owner = Owner(engine, open_again)
        self._operate = SharedOperations(self._owner)

    async def ingest(self, scope: Scope, messages: Sequence[NewMessage], idempotency_key: str | None) -> Receipts:
        key = idempotency_key or str(uuid7())
        return await self._owner.ask(lambda engine: engine.ingest(scope, messages, key))

    async def query(self, scope: Scope, query: Query) -> Context:
        return await self._owner.ask(lambda engine: engine.query(scope, query))

    async def history(
        self, scope: Scope, *, order: Order, after: str | None, limit: int, search: str | None
    ) -> Page[Message]:
        return await self._owner.ask(
            lambda engine: engine.history(scope, order=order, after=after, limit=limit, search=search)
        )

    async def window(self, scope: Scope, *, resume: bool) -> tuple[Message, ...]:
        return await self._owner.ask(lambda engine: engine.window(scope, resume=resume))

    async def add(self, scope: Scope, memory: NewMemory, idempotency_key: str | None) -> MemoryItem:
        key = idempotency_key or str(uuid7())
        return await self._owner.ask(lambda engine: engine.add(scope, memory, key))

    async def get(self, scope: Scope, memory_id: str) -> MemoryItem:
        return await self._owner.ask(lambda engine: engine.get(scope, memory_id))

    async def list(self, scope: Scope, filters: Filters, *, after: str | None, limit: int) -> Page[MemoryItem]:
        return await self._owner.ask(lambda engine: engine.list(scope, filters, after=after, limit=limit))

    async def revise(self, scope: Scope, memory_id: str, patch: MemoryPatch, expected: int | None) -> MemoryItem:
        return await self._owner.tell(lambda engine: engine.revise(scope, memory_id, patch, expected))

    async def delete(self, scope: Scope, memory_id: str, expected: int | None) -> None:
        await self._owner.tell(lambda engine: engine.delete(scope, memory_id, expected))

    async def versions(self, scope: Scope, memory_id: str) -> tuple[MemoryItem, ...]:
        return await self._owner.ask(lambda engine: engine.versions(scope, memory_id))

    async def begin_turn(self, scope: Scope, message: NewMessage, query: Query, idempotency_key: str | None) -> Turn:
        key = idempotency_key or str(uuid7())
        return await self._owner.ask(lambda engine: engine.begin_turn(scope, message, query, key))

    async def end_turn(
        self, scope: Scope, turn_id: str, outcome: Outcome, reply: NewMessage | None, detail: dict[str, Any]
    ) -> Receipt | None:
        return await self._owner.ask(lambda engine: engine.end_turn(scope, turn_id, outcome, reply, detail))

    @property
    def operate(self) -> Operations:
        return self._operate

    async def close(self) -> None:
        await self._owner.close()


class SharedOperations:
    """The operator's verbs through the folder's owner."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    async def query(self, tenant: str, query: Query) -> Context:
        return await self._owner.ask(lambda engine: engine.operate.query(tenant, query))

    async def stats(self, tenant: str | None = None) -> Stats:
        return await self._owner.ask(lambda engine: engine.operate.stats(tenant))

    async def settle(self, timeout: float = 30.0) -> Settled:
        return await self._owner.ask(lambda engine: engine.operate.settle(timeout))

    async def rebuild(self, view: View = "index", *, verify: bool = False) -> AsyncIterator[Progress]:
        async for progress in (await self._owner.alive()).operate.rebuild(view, verify=verify):
            yield progress

    async def backup(self, file: Path | str) -> AsyncIterator[Progress]:
        async for progress in (await self._owner.alive()).operate.backup(file):
            yield progress

    async def backup_pieces(self) -> AsyncGenerator[Piece, None]:
        async with aclosing((await self._owner.alive()).operate.backup_pieces()) as pieces:
            async for piece in pieces:
                yield piece

    async def audit(self, tenant: str | None = None, *, after: str | None = None, limit: int = 50) -> Page[AuditEntry]:
        return await self._owner.ask(lambda engine: engine.operate.audit(tenant, after=after, limit=limit))

    async def jobs(self, state: JobState | None = None, limit: int = 50) -> tuple[Job, ...]:
        return await self._owner.ask(lambda engine: engine.operate.jobs(state, limit))

    async def failures(
        self, state: FailureState | None = None, *, after: str | None = None, limit: int = 50
    ) -> Page[Failure]:
        return await self._owner.ask(lambda engine: engine.operate.failures(state, after=after, limit=limit))

    async def failure(self, failure_id: str) -> Failure:
        return await self._owner.ask(lambda engine: engine.operate.failure(failure_id))

    async def replay_failures(self, failure_id: str | None = None) -> int:
        return await self._owner.tell(lambda engine: engine.operate.replay_failures(failure_id))

    async def discard_failure(self, failure_id: str) -> bool:
        return await self._owner.tell(lambda engine: engine.operate.discard_failure(failure_id))

    async def job(self, job_id: str) -> Job:
        return await self._owner.ask(lambda engine: engine.operate.job(job_id))

    async def retry_job(self, job_id: str) -> Job:
        return await self._owner.tell(lambda engine: engine.operate.retry_job(job_id))

    async def cancel_job(self, job_id: str) -> Job:
        return await self._owner.tell(lambda engine: engine.operate.cancel_job(job_id))

    async def doctor(self) -> Diagnosis:
        return await self._owner.ask(lambda engine: engine.operate.doctor())

    async def lanes(self) -> tuple[LaneProgress, ...]:
        return await self._owner.ask(lambda engine: engine.operate.lanes())

    async def drop_lane(self, lane: str, model: str) -> int:
        return await self._owner.tell(lambda engine: engine.operate.drop_lane(lane, model))

    async def add_api_key(self, tenant: str | None, *, operator: bool = False) -> NewApiKey:
        return await self._owner.tell(lambda engine: engine.operate.add_api_key(tenant, operator=operator))

    async def api_keys(self) -> tuple[ApiKey, ...]:
        return await self._owner.ask(lambda engine: engine.operate.api_keys())

    async def revoke_api_key(self, api_key_id: str) -> bool:
        return await self._owner.tell(lambda engine: engine.operate.revoke_api_key(api_key_id))
