"""Replaying spooled calls on tables in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.errors import NotFound
from rememberd.model import Receipts

from .audit import note
from .records import append, begin_turn, end_turn

if TYPE_CHECKING:
    from rememberd.ports.spool import Replay, SpooledCall

    from .tables import Tables


def replay(tables: Tables, operation: Replay) -> tuple[Receipts | None, ...]:
    return tuple(None if _was_carried_out(tables, call) else _carry_out(tables, call) for call in operation.calls)


def _was_carried_out(tables: Tables, call: SpooledCall) -> bool:
    said = call.append is None or all((call.tenant, entry.id) in tables.messages for entry in call.append.entries)
    if call.begin is not None:
        return said and (call.tenant, call.begin.id) in tables.turns
    if call.end is None:
        return said
    turn = tables.turns.get((call.tenant, call.end.id))
    if turn is None or (turn.user, turn.thread) != (call.user, call.thread):
        raise NotFound(f"no turn {call.end.id!r} was begun here")
    return said and turn.outcome is not None


def _carry_out(tables: Tables, call: SpooledCall) -> Receipts:
    receipts = append(tables, call.append) if call.append else Receipts(call.thread, ())
    if call.begin is not None:
        begin_turn(tables, call.begin)
    if call.end is not None:
        end_turn(tables, call.end)
    note(tables, call.note)
    return receipts
