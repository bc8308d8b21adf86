"""The record on SQL."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, cast

from sqlalchemy import ColumnElement, bindparam, func, insert, select

from rememberd.errors import NotFound, ThreadTaken
from rememberd.model import Message, Outcome, Receipt, Receipts, Scope, ThreadState
from rememberd.ports.records import Append, BeginTurn, EndTurn, Entry, Order, Touch, TurnState

from .dialect import Addition, Statement, in_list, integer
from .idempotency import FirstUse, check_same, first_uses, remember_use
from .schema import messages, turns
from .threads import Thread, find_threads, keep_thread, thread_of
from .transaction import next_position
from .values import MICROSECOND, json_text, json_value, micros, moment, string_list

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from .storage import Executor
    from .transaction import Reader, Row, Transaction

_of_thread = (messages.c.tenant == bindparam("tenant"), messages.c.thread == bindparam("thread"))
_ADD_MESSAGE = Addition(messages)
_MESSAGES = Statement(select(messages).where(messages.c.tenant == bindparam("tenant"), in_list(messages.c.id, "ids")))
_TAIL = Statement(
    select(messages)
    .where(*_of_thread, messages.c.seq > integer("after"), messages.c.role != "system")
    .order_by(messages.c.seq.desc())
    .limit(integer("limit"))
)
_NEIGHBOURS = Statement(
    select(messages)
    .where(*_of_thread, messages.c.seq >= integer("first"), messages.c.seq <= integer("last"))
    .order_by(messages.c.seq)
)
_COUNT_ALL = Statement(select(func.count()).select_from(messages))
_COUNT = Statement(select(func.count()).select_from(messages).where(messages.c.tenant == bindparam("tenant")))
_ADD_TURN_ENTRY = Statement(insert(turns))
_TURN = Statement(select(turns).where(turns.c.tenant == bindparam("tenant"), turns.c.id == bindparam("turn")))


@functools.cache
def _history(*, threaded: bool, owned: bool, newest: bool) -> Statement:
    """Messages of one owner (or of none), of one thread (or of all), beyond a position."""
    chosen: list[ColumnElement[bool]] = [
        messages.c.tenant == bindparam("tenant"),
        messages.c.agent.is_(None) | (messages.c.agent == bindparam("agent")),
        messages.c.recorded_at <= integer("until"),
        messages.c.user == bindparam("user") if owned else messages.c.user.is_(None),
        messages.c.position < integer("beyond") if newest else messages.c.position > integer("beyond"),
    ]
    if threaded:
        chosen.append(messages.c.thread == bindparam("thread"))
    order = messages.c.position.desc() if newest else messages.c.position
    return Statement(select(messages).where(*chosen).order_by(order).limit(integer("limit")))


_LAST = 2**62


def _message(row: Row) -> Message:
    position, id_, tenant, thread, seq, user, agent, role, name, content, at, recorded_at, metadata = row
    return Message(
        id=id_, tenant=tenant, thread=thread, seq=seq, user=user, agent=agent, role=role, name=name,
        content=content, at=moment(at), recorded_at=moment(recorded_at), metadata=json_value(metadata),
        position=position,
    )  # fmt: skip


def _state(thread: Thread) -> ThreadState:
    return ThreadState(
        tenant=thread.tenant, thread=thread.thread, user=thread.user, last_seq=thread.last_seq,
        session_from=thread.session_from, last_used=moment(thread.last_used),
    )  # fmt: skip


class SqlRecords:
    """Reads of the record."""

    def __init__(self, executor: Executor) -> None:
        self._read = executor.read

    async def thread(self, tenant: str, thread: str) -> ThreadState | None:
        found = await self._read(lambda reader: find_threads(reader, tenant, [thread]))
        return _state(found[thread]) if thread in found else None

    async def tail(self, tenant: str, thread: str, after: int, limit: int) -> list[Message]:
        rows = await self._read(
            lambda reader: reader.rows(_TAIL, tenant=tenant, thread=thread, after=after, limit=limit)
        )
        return [_message(row) for row in reversed(rows)]

    async def history(
        self, scope: Scope, *, order: Order, after: int | None, until: datetime | None, limit: int
    ) -> list[Message]:
        newest = order == "newest"
        values = {
            "tenant": scope.tenant,
            "agent": scope.agent,
            "until": _LAST if until is None else micros(until),
            "beyond": (_LAST if newest else 0) if after is None else after,
            "limit": limit,
        }
        if scope.thread is not None:
            values["thread"] = scope.thread

        async def look(reader: Reader) -> list[Row]:
            threaded = scope.thread is not None
            found = await reader.rows(_history(threaded=threaded, owned=False, newest=newest), **values)
            if scope.user is not None:
                owned = _history(threaded=threaded, owned=True, newest=newest)
                found += await reader.rows(owned, user=scope.user, **values)
            return found

        rows = sorted(await self._read(look), key=lambda row: cast("int", row[0]), reverse=newest)
        return [_message(row) for row in rows[:limit]]

    async def messages(self, tenant: str, ids: Sequence[str]) -> list[Message]:
        if not ids:
            return []
        rows = await self._read(lambda reader: reader.rows(_MESSAGES, tenant=tenant, ids=string_list(ids)))
        return [_message(row) for row in rows]

    async def neighbours(self, tenant: str, thread: str, seqs: Sequence[int]) -> list[Message]:
        if not seqs:
            return []
        wanted, first, last = set(seqs), min(seqs), max(seqs)
        rows = await self._read(
            lambda reader: reader.rows(_NEIGHBOURS, tenant=tenant, thread=thread, first=first, last=last)
        )
        return [message for message in map(_message, rows) if message.seq in wanted]

    async def turn(self, tenant: str, turn_id: str) -> TurnState | None:
        return await self._read(lambda reader: turn_state(reader, tenant, turn_id))

    async def count(self, tenant: str | None) -> int:
        if tenant is None:
            rows = await self._read(lambda reader: reader.rows(_COUNT_ALL))
        else:
            rows = await self._read(lambda reader: reader.rows(_COUNT, tenant=tenant))
        return cast("int", rows[0][0])


async def append(transaction: Transaction, op: Append) -> Receipts:
    keys = op.idempotency_keys
    uses = await first_uses(transaction, op.tenant, keys) if keys else {}
    for entry in op.entries:
        if entry.idempotency_key in uses:
            check_same(entry.idempotency_key, uses[entry.idempotency_key], entry.digest)
    thread = op.thread
    if op.thread_made_up:
        thread = next((use.thread for use in uses.values() if use.thread is not None), op.thread)
    state = await thread_of(transaction, op.tenant, thread)
    if state is not None and state.user != op.user:
        raise ThreadTaken(f"the thread {thread!r} belongs to another user; use another thread id")
    if keys:
        _check_repeats(op.entries)
    return _record(transaction, op, thread, state, uses)


def _record(
    transaction: Transaction, op: Append, thread: str, state: Thread | None, uses: dict[str, FirstUse]
) -> Receipts:
    recorded_at = micros(op.recorded_at)
    state = state or Thread(op.tenant, thread, op.user, 0, 0, recorded_at)
    seq = state.last_seq
    receipts: list[Receipt] = []
    for entry in op.entries:
        key = entry.idempotency_key
        if key is not None and key in uses:
            receipts.append(_receipt_of(entry, uses))
            continue
        seq += 1
        transaction.add(
            _ADD_MESSAGE,
            (
                next_position(transaction), entry.id, op.tenant, thread, seq, op.user, op.agent, entry.role, entry.name,
                entry.content, micros(entry.at), recorded_at, json_text(entry.metadata),
            ),
        )  # fmt: skip
        if key is not None:
            uses[key] = FirstUse(entry.digest, entry.id, thread, seq)
            remember_use(transaction, op.tenant, key, uses[key])
        receipts.append(Receipt(entry.id, seq, "recorded"))
    if seq > state.last_seq:
        live = recorded_at - state.last_used <= op.session_ttl // MICROSECOND
        session_from = state.session_from if live else state.last_seq
        used = max(recorded_at, state.last_used)
        keep_thread(transaction, Thread(op.tenant, thread, op.user, seq, session_from, used))
    return Receipts(thread, tuple(receipts))


async def recorded_ids(reader: Reader, tenant: str, ids: Sequence[str]) -> set[str]:
    """Which of these messages are in the record."""
    rows = await reader.rows(_MESSAGES, tenant=tenant, ids=string_list(ids)) if ids else []
    return {row[1] for row in rows}


def _check_repeats(entries: Sequence[Entry]) -> None:
    """A key that stands twice in one append must stand for the same message."""
    seen: dict[str, FirstUse] = {}
    for entry in entries:
        if entry.idempotency_key is None:
            continue
        use = seen.setdefault(entry.idempotency_key, FirstUse(entry.digest, entry.id, None, None))
        check_same(entry.idempotency_key, use, entry.digest)


def _receipt_of(entry: Entry, uses: dict[str, FirstUse]) -> Receipt:
    use = uses[cast("str", entry.idempotency_key)]
    return Receipt(use.answer, use.seq, "duplicate")


async def touch(transaction: Transaction, op: Touch) -> None:
    state = await thread_of(transaction, op.tenant, op.thread)
    if state is not None:
        session_from = state.session_from if op.session_from is None else op.session_from
        used = max(micros(op.at), state.last_used)
        keep_thread(transaction, state._replace(session_from=session_from, last_used=used))


async def begin_turn(transaction: Transaction, op: BeginTurn) -> None:
    if await turn_state(transaction, op.tenant, op.id) is not None:
        return
    await transaction.run(
        _ADD_TURN_ENTRY, tenant=op.tenant, id=op.id, entry="begun", thread=op.thread, user=op.user, agent=op.agent,
        at=micros(op.at), outcome=None, detail="{}",
    )  # fmt: skip


async def end_turn(transaction: Transaction, op: EndTurn) -> bool:
    turn = await turn_state(transaction, op.tenant, op.id)
    if turn is None:
        raise NotFound(f"no turn {op.id!r} was begun")
    if turn.outcome is not None:
        return False
    await transaction.run(
        _ADD_TURN_ENTRY, tenant=op.tenant, id=op.id, entry="ended", thread=turn.thread, user=turn.user,
        agent=turn.agent, at=micros(op.at), outcome=op.outcome, detail=json_text(op.detail),
    )  # fmt: skip
    return True


async def turn_state(reader: Reader, tenant: str, turn_id: str) -> TurnState | None:
    entries = {row[2]: row for row in await reader.rows(_TURN, tenant=tenant, turn=turn_id)}
    if "begun" not in entries:
        return None
    _, _, _, thread, user, agent, begun_at, _, _ = entries["begun"]
    ended = entries.get("ended")
    return TurnState(
        id=turn_id, tenant=tenant, thread=thread, user=user, agent=agent, begun_at=moment(begun_at),
        outcome=cast("Outcome", ended[7]) if ended else None,
        ended_at=moment(ended[6]) if ended else None,
        detail=json_value(ended[8]) if ended else {},
    )  # fmt: skip
