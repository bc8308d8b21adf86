"""The record on tables in this process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rememberd.errors import IdempotencyConflict, NotFound, ThreadTaken
from rememberd.model import Message, Receipt, Receipts, Scope, ThreadState
from rememberd.ports.records import Append, BeginTurn, EndTurn, Entry, Order, Touch, TurnState

from .tables import Committed, FirstUse, Tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


def append(tables: Tables, operation: Append) -> Receipts:
    thread = _thread_of(tables, operation)
    state = tables.threads.get((operation.tenant, thread))
    if state is not None and state.user != operation.user:
        raise ThreadTaken(f"the thread {thread!r} belongs to another user")
    state = state or ThreadState(
        tenant=operation.tenant,
        thread=thread,
        user=operation.user,
        last_seq=0,
        session_from=0,
        last_used=operation.recorded_at,
    )
    if not state.is_live(operation.session_ttl, operation.recorded_at):
        state = replace(state, session_from=state.last_seq)

    receipts = []
    for entry in operation.entries:
        first = _first_use(tables, operation.tenant, entry)
        if first is None:
            state = replace(state, last_seq=state.last_seq + 1)
            message = _record(tables, operation, entry, state)
            receipts.append(Receipt(message.id, message.seq, "recorded"))
        else:
            receipts.append(Receipt(first.id, first.seq, "duplicate"))

    if any(receipt.status == "recorded" for receipt in receipts):
        tables.threads[operation.tenant, thread] = replace(state, last_used=max(state.last_used, operation.recorded_at))
    return Receipts(thread, tuple(receipts))


def touch(tables: Tables, operation: Touch) -> None:
    state = tables.threads.get((operation.tenant, operation.thread))
    if state is not None:
        session_from = state.session_from if operation.session_from is None else operation.session_from
        tables.threads[operation.tenant, operation.thread] = replace(
            state, last_used=max(state.last_used, operation.at), session_from=session_from
        )


def begin_turn(tables: Tables, operation: BeginTurn) -> None:
    begun = TurnState(
        id=operation.id,
        tenant=operation.tenant,
        thread=operation.thread,
        user=operation.user,
        agent=operation.agent,
        begun_at=operation.at,
    )
    tables.turns.setdefault((operation.tenant, operation.id), begun)


def end_turn(tables: Tables, operation: EndTurn) -> bool:
    turn = tables.turns.get((operation.tenant, operation.id))
    if turn is None:
        raise NotFound(f"no turn {operation.id!r} was begun")
    if turn.outcome is not None:
        return False
    tables.turns[operation.tenant, operation.id] = replace(
        turn, outcome=operation.outcome, ended_at=operation.at, detail=operation.detail
    )
    return True


@dataclass(frozen=True, slots=True)
class ReferenceRecords:
    committed: Committed

    async def thread(self, tenant: str, thread: str) -> ThreadState | None:
        return self.committed.tables.threads.get((tenant, thread))

    async def tail(self, tenant: str, thread: str, after: int, limit: int) -> list[Message]:
        spoken = [m for m in self._of_thread(tenant, thread) if m.seq > after and m.role != "system"]
        return spoken[max(len(spoken) - limit, 0) :]

    async def history(
        self, scope: Scope, *, order: Order, after: int | None, until: datetime | None, limit: int
    ) -> list[Message]:
        seen = [
            message
            for message in self._all()
            if message.tenant == scope.tenant
            and scope.sees(message.user, message.agent)
            and (scope.thread is None or message.thread == scope.thread)
            and (until is None or message.recorded_at <= until)
        ]
        if order == "newest":
            seen = [message for message in reversed(seen) if after is None or message.position < after]
        else:
            seen = [message for message in seen if after is None or message.position > after]
        return seen[:limit]

    async def messages(self, tenant: str, ids: Sequence[str]) -> list[Message]:
        stored = self.committed.tables.messages
        return [stored[tenant, each] for each in dict.fromkeys(ids) if (tenant, each) in stored]

    async def neighbours(self, tenant: str, thread: str, seqs: Sequence[int]) -> list[Message]:
        return [message for message in self._of_thread(tenant, thread) if message.seq in seqs]

    async def turn(self, tenant: str, turn_id: str) -> TurnState | None:
        return self.committed.tables.turns.get((tenant, turn_id))

    async def count(self, tenant: str | None) -> int:
        return sum(tenant is None or message.tenant == tenant for message in self._all())

    def _all(self) -> list[Message]:
        """Every message; a dict keeps the order of recording, which is that of the positions."""
        return list(self.committed.tables.messages.values())

    def _of_thread(self, tenant: str, thread: str) -> list[Message]:
        return [message for message in self._all() if message.tenant == tenant and message.thread == thread]


def _thread_of(tables: Tables, operation: Append) -> str:
    """The thread an append goes to: its own, or, if that was made up, the one its first known key leads to."""
    known = [first for entry in operation.entries if (first := _first_use(tables, operation.tenant, entry))]
    return known[0].thread if operation.thread_made_up and known else operation.thread


def _first_use(tables: Tables, tenant: str, entry: Entry) -> Message | None:
    """The message that an entry's idempotency key was first used for."""
    first = tables.idempotency_keys.get((tenant, entry.idempotency_key)) if entry.idempotency_key is not None else None
    if first is None:
        return None
    if first.digest != entry.digest or not isinstance(first.stored, Message):
        raise IdempotencyConflict(f"the idempotency key {entry.idempotency_key!r} was used for something else")
    return first.stored


def _record(tables: Tables, operation: Append, entry: Entry, state: ThreadState) -> Message:
    message = Message(
        id=entry.id,
        tenant=operation.tenant,
        thread=state.thread,
        seq=state.last_seq,
        user=operation.user,
        agent=operation.agent,
        role=entry.role,
        name=entry.name,
        content=entry.content,
        at=entry.at,
        recorded_at=operation.recorded_at,
        metadata=entry.metadata,
        position=tables.announce(operation.tenant, "message", entry.id, "put"),
    )
    tables.messages[operation.tenant, message.id] = message
    if entry.idempotency_key is not None:
        tables.idempotency_keys[operation.tenant, entry.idempotency_key] = FirstUse(entry.digest, message)
    return message
