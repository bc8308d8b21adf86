"""The operator's hands on the spool: what waits, what died of what, and another try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.errors import NotFound
from rememberd.flow.cursor import read_cursor, write_cursor
from rememberd.flow.spool import messages_of
from rememberd.model import Failure, Page

if TYPE_CHECKING:
    from rememberd.flow.spool import Spooler
    from rememberd.model import FailureState
    from rememberd.ports.spool import Attempt, Spool, SpooledCall


async def list_failures(
    spool: Spool, spooler: Spooler, state: FailureState | None, after: str | None, limit: int
) -> Page[Failure]:
    """By the time they came, without their messages."""
    last = read_cursor(after, str, "failures", state) or ""
    found: list[Failure] = []
    if state != "dead":
        calls = await spool.read(spooler.behind_id(last, limit + 1))
        found += [_failure(call, "waiting", await spool.last_attempt(call.id)) for call in calls]
    if state != "waiting":
        letters = [letter for letter in await spool.dead_letters() if letter.call.id > last]
        found += [_failure(letter.call, "dead", letter.last) for letter in letters]
    found.sort(key=lambda failure: failure.id)
    page = found[:limit]
    return Page(tuple(page), write_cursor(page[-1].id, "failures", state) if len(found) > limit else None)


async def read_failure(spool: Spool, failure_id: str) -> Failure:
    """One, with its messages."""
    for letter in await spool.dead_letters([failure_id]):
        return _failure(letter.call, "dead", letter.last, whole=True)
    for call in await spool.read([failure_id]):
        return _failure(call, "waiting", await spool.last_attempt(call.id), whole=True)
    raise NotFound(f"no failure {failure_id!r}")


async def replay_dead(spool: Spool, spooler: Spooler, failure_id: str | None) -> int:
    """Let a dead letter wait again, or all of them; answers how many."""
    letters = await spool.dead_letters(None if failure_id is None else [failure_id])
    if failure_id is not None and not letters:
        raise NotFound(f"no dead letter {failure_id!r}")
    await spooler.revive(letters)
    return len(letters)


def _failure(call: SpooledCall, state: FailureState, last: Attempt | None, *, whole: bool = False) -> Failure:
    messages = tuple(messages_of([call]))
    return Failure(
        id=call.id,
        state=state,
        tenant=call.tenant,
        user=call.user,
        thread=call.thread,
        action=call.note.entry.action,
        count=len(messages),
        attempts=last.number if last else 0,
        reason=last.reason if last else None,
        detail=last.detail if last else None,
        first_at=call.at,
        last_at=last.at if last else None,
        messages=messages if whole else (),
    )
