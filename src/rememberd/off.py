"""Memory switched off: every verb answers, nothing is kept, and what is answered says so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .errors import NotFound, Unavailable
from .flow.remember import first_revision
from .model import Context, Diagnosis, Finding, NewMemory, Page, Receipts, Settled, Stats, Turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from .model import (
        ApiKey,
        AuditEntry,
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
        NewMessage,
        Outcome,
        Progress,
        Query,
        Receipt,
        Scope,
    )
    from .ports.backups import Piece
    from .ports.records import Order
    from .verbs import Operations, View

OFF = "memory: it is switched off; nothing is kept and nothing is recalled"


class OffEngine:
    """No receipts, no hits, no messages. An item that is added comes back with revision 0: it is not stored."""

    async def ingest(self, scope: Scope, messages: Sequence[NewMessage], idempotency_key: str | None) -> Receipts:
        return Receipts(scope.thread or "", ())

    async def query(self, scope: Scope, query: Query) -> Context:
        return Context(degraded=(OFF,))

    async def history(
        self, scope: Scope, *, order: Order, after: str | None, limit: int, search: str | None
    ) -> Page[Message]:
        return Page(())

    async def window(self, scope: Scope, *, resume: bool) -> tuple[Message, ...]:
        return ()

    async def add(self, scope: Scope, memory: NewMemory, idempotency_key: str | None) -> MemoryItem:
        return replace(first_revision(scope, memory, "", datetime.now(UTC)), revision=0)

    async def get(self, scope: Scope, memory_id: str) -> MemoryItem:
        raise NotFound(OFF)

    async def list(self, scope: Scope, filters: Filters, *, after: str | None, limit: int) -> Page[MemoryItem]:
        return Page(())

    async def revise(self, scope: Scope, memory_id: str, patch: MemoryPatch, expected: int | None) -> MemoryItem:
        memory = NewMemory(text=patch.text or "", kind=patch.kind or "fact")
        return replace(first_revision(scope, memory, memory_id, datetime.now(UTC)), revision=0)

    async def delete(self, scope: Scope, memory_id: str, expected: int | None) -> None:
        pass

    async def versions(self, scope: Scope, memory_id: str) -> tuple[MemoryItem, ...]:
        return ()

    async def begin_turn(self, scope: Scope, message: NewMessage, query: Query, idempotency_key: str | None) -> Turn:
        return Turn("", scope.thread or "", None, Context(degraded=(OFF,)))

    async def end_turn(
        self, scope: Scope, turn_id: str, outcome: Outcome, reply: NewMessage | None, detail: dict[str, Any]
    ) -> Receipt | None:
        return None

    @property
    def operate(self) -> Operations:
        return OffOperations()

    async def close(self) -> None:
        pass


class OffOperations:
    async def query(self, tenant: str, query: Query) -> Context:
        return Context(degraded=(OFF,))

    async def stats(self, tenant: str | None = None) -> Stats:
        return Stats(tenant=tenant, messages=0, memories=0, storage="off")

    async def settle(self, timeout: float = 30.0) -> Settled:
        return Settled(True, (OFF,))

    async def rebuild(self, view: View = "index", *, verify: bool = False) -> AsyncIterator[Progress]:
        progress: tuple[Progress, ...] = ()
        for step in progress:
            yield step

    def backup(self, file: Path | str) -> AsyncIterator[Progress]:
        return _refuse()

    def backup_pieces(self) -> AsyncGenerator[Piece, None]:
        return _refuse()

    async def audit(self, tenant: str | None = None, *, after: str | None = None, limit: int = 50) -> Page[AuditEntry]:
        return Page(())

    async def jobs(self, state: JobState | None = None, limit: int = 50) -> tuple[Job, ...]:
        return ()

    async def job(self, job_id: str) -> Job:
        raise NotFound(OFF)

    async def retry_job(self, job_id: str) -> Job:
        raise NotFound(OFF)

    async def cancel_job(self, job_id: str) -> Job:
        raise NotFound(OFF)

    async def failures(
        self, state: FailureState | None = None, *, after: str | None = None, limit: int = 50
    ) -> Page[Failure]:
        return Page(())

    async def failure(self, failure_id: str) -> Failure:
        raise NotFound(OFF)

    async def replay_failures(self, failure_id: str | None = None) -> int:
        return 0

    async def discard_failure(self, failure_id: str) -> bool:
        return False

    async def doctor(self) -> Diagnosis:
        detail, _, _ = OFF.partition("; ")
        cure = "leave enable_memory=False out, and memory.enabled at its default"
        return Diagnosis(findings=(Finding(check="memory", state="warning", detail=detail, cure=cure),))

    async def lanes(self) -> tuple[LaneProgress, ...]:
        return ()

    async def drop_lane(self, lane: str, model: str) -> int:
        raise NotFound(OFF)

    async def add_api_key(self, tenant: str | None, *, operator: bool = False) -> NewApiKey:
        raise Unavailable(OFF)

    async def api_keys(self) -> tuple[ApiKey, ...]:
        return ()

    async def revoke_api_key(self, api_key_id: str) -> bool:
        return False


async def _refuse() -> AsyncGenerator[Any, None]:
    """Says so when it is asked for its first step."""
    steps: tuple[Any, ...] = ()
    for step in steps:
        yield step
    raise Unavailable(OFF)
