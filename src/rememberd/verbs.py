"""What every engine behind the façade promises: the verbs of memory, and those of its operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from .model import (
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
    from .ports.backups import Piece
    from .ports.records import Order

View = Literal["index", "window"]


class Engine(Protocol):
    """The verbs of memory, each within a scope. Every error is one of ``rememberd.errors``."""

    async def ingest(self, scope: Scope, messages: Sequence[NewMessage], idempotency_key: str | None) -> Receipts: ...

    async def query(self, scope: Scope, query: Query) -> Context: ...

    async def history(
        self, scope: Scope, *, order: Order, after: str | None, limit: int, search: str | None
    ) -> Page[Message]: ...

    async def window(self, scope: Scope, *, resume: bool) -> tuple[Message, ...]: ...

    async def add(self, scope: Scope, memory: NewMemory, idempotency_key: str | None) -> MemoryItem: ...

    async def get(self, scope: Scope, memory_id: str) -> MemoryItem: ...

    async def list(self, scope: Scope, filters: Filters, *, after: str | None, limit: int) -> Page[MemoryItem]: ...

    async def revise(self, scope: Scope, memory_id: str, patch: MemoryPatch, expected: int | None) -> MemoryItem: ...

    async def delete(self, scope: Scope, memory_id: str, expected: int | None) -> None: ...

    async def versions(self, scope: Scope, memory_id: str) -> tuple[MemoryItem, ...]: ...

    async def begin_turn(
        self, scope: Scope, message: NewMessage, query: Query, idempotency_key: str | None
    ) -> Turn: ...

    async def end_turn(
        self, scope: Scope, turn_id: str, outcome: Outcome, reply: NewMessage | None, detail: dict[str, Any]
    ) -> Receipt | None: ...

    @property
    def operate(self) -> Operations: ...

    async def close(self) -> None: ...


class Operations(Protocol):
    """The operator's verbs: over all users of a tenant, or over the whole store."""

    async def query(self, tenant: str, query: Query) -> Context: ...

    async def stats(self, tenant: str | None = None) -> Stats: ...

    async def settle(self, timeout: float = 30.0) -> Settled: ...

    def rebuild(self, view: View = "index", *, verify: bool = False) -> AsyncIterator[Progress]:
        """Make a view again from storage; with ``verify``, compare it with the old one before that goes."""
        ...

    def backup(self, file: Path | str) -> AsyncIterator[Progress]:
        """Write everything acknowledged before to a new file."""
        ...

    def backup_pieces(self) -> AsyncGenerator[Piece, None]:
        """The same as bytes, for whoever keeps them elsewhere."""
        ...

    async def audit(
        self, tenant: str | None = None, *, after: str | None = None, limit: int = 50
    ) -> Page[AuditEntry]: ...

    async def jobs(self, state: JobState | None = None, limit: int = 50) -> tuple[Job, ...]: ...

    async def failures(
        self, state: FailureState | None = None, *, after: str | None = None, limit: int = 50
    ) -> Page[Failure]: ...

    async def failure(self, failure_id: str) -> Failure: ...

    async def replay_failures(self, failure_id: str | None = None) -> int: ...

    async def discard_failure(self, failure_id: str) -> bool: ...

    async def job(self, job_id: str) -> Job:
        """Raises ``NotFound``."""
        ...

    async def retry_job(self, job_id: str) -> Job:
        """Let a dead or cancelled job be tried anew; ``Conflict`` if it is neither."""
        ...

    async def cancel_job(self, job_id: str) -> Job:
        """Give up a job that waits or runs; ``Conflict`` if it has ended."""
        ...

    async def doctor(self) -> Diagnosis: ...

    async def lanes(self) -> tuple[LaneProgress, ...]: ...

    async def drop_lane(self, lane: str, model: str) -> int: ...

    async def add_api_key(self, tenant: str | None, *, operator: bool = False) -> NewApiKey: ...

    async def api_keys(self) -> tuple[ApiKey, ...]: ...

    async def revoke_api_key(self, api_key_id: str) -> bool: ...
