"""Replaying spooled calls on SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.errors import NotFound
from rememberd.model import Receipts

from .audit import note
from .records import append, begin_turn, end_turn, recorded_ids, turn_state

if TYPE_CHECKING:
    from rememberd.ports.spool import Replay, SpooledCall

    from .transaction import Reader, Transaction


async def replay(transaction: Transaction, op: Replay) -> tuple[Receipts | None, ...]:
    recorded: set[str] = set()
    for tenant in {call.tenant for call in op.calls}:
        appends = [call.append for call in op.calls if call.append and call.tenant == tenant]
        recorded |= await recorded_ids(transaction, tenant, [entry.id for each in appends for entry in each.entries])
    answers = []
    for call in op.calls:
        known = await _was_carried_out(transaction, call, recorded)
        answers.append(None if known else await _carry_out(transaction, call))
    return tuple(answers)


async def _was_carried_out(reader: Reader, call: SpooledCall, recorded: set[str]) -> bool:
    said = call.append is None or all(entry.id in recorded for entry in call.append.entries)
    if call.begin is not None:
        return said and await turn_state(reader, call.tenant, call.begin.id) is not None
    if call.end is None:
        return said
    turn = await turn_state(reader, call.tenant, call.end.id)
    if turn is None or (turn.user, turn.thread) != (call.user, call.thread):
        raise NotFound(f"no turn {call.end.id!r} was begun here")
    return said and turn.outcome is not None


async def _carry_out(transaction: Transaction, call: SpooledCall) -> Receipts:
    receipts = await append(transaction, call.append) if call.append else Receipts(call.thread, ())
    if call.begin is not None:
        await begin_turn(transaction, call.begin)
    if call.end is not None:
        await end_turn(transaction, call.end)
    await note(transaction, call.note)
    return receipts
