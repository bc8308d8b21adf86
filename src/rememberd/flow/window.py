"""The window: the last messages of a thread's session, while it is in use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd import telemetry
from rememberd.ports.records import Append, Touch
from rememberd.ports.windows import HeldWindow

if TYPE_CHECKING:
    from datetime import datetime

    from rememberd.model import Message, Receipts, Scope, WindowRule
    from rememberd.ports.storage import Storage
    from rememberd.ports.windows import Windows


async def read_window(
    storage: Storage, windows: Windows, scope: Scope, rule: WindowRule, now: datetime, *, resume: bool = False
) -> tuple[Message, ...]:
    """The window of the scope's thread, oldest message first; reading it is using it.

    Empty after the ttl, for a thread that does not exist, and for one that belongs to another user.
    ``resume`` begins the session anew with the whole record of the thread behind it.
    """
    if scope.thread is None:
        return ()
    held = await windows.get(scope.tenant, scope.thread)
    state = held.state if held else await storage.records.thread(scope.tenant, scope.thread)
    if state is None or not scope.sees(state.user, None):
        return ()
    if not resume and not state.is_live(rule.ttl, now):
        return ()
    if resume and state.session_from:
        session_from, held = 0, None
    else:
        session_from = state.session_from
    if held is None:
        messages = tuple(await storage.records.tail(scope.tenant, scope.thread, session_from, rule.size))
    else:
        messages = held.messages[-rule.size :]
    used = Touch(
        tenant=scope.tenant,
        thread=scope.thread,
        at=now,
        session_from=session_from if session_from != state.session_from else None,
    )
    if held is None:
        await windows.put(
            HeldWindow(replace(state, last_used=max(now, state.last_used), session_from=session_from), messages), rule
        )
    else:
        await windows.touch(scope.tenant, scope.thread, now)
    if used.session_from is not None:
        await storage.write(used)
    elif _period(now, rule) > _period(state.last_used, rule):
        storage.write_soon(used)
    return tuple(message for message in messages if scope.sees(message.user, message.agent))


def _period(moment: datetime, rule: WindowRule) -> int:
    """Which thousandth of the ttl a moment falls into: a use is stored once in each, which is exact enough."""
    return int(moment.timestamp() / max(rule.ttl.total_seconds() / 1000, 1e-6))


async def follow_append(windows: Windows, append: Append, receipts: Receipts, rule: WindowRule) -> None:
    """Let the held window follow what was recorded, and say why it did not grow where it did not."""
    await windows.extend(append, receipts, rule)
    if all(entry.role == "system" for entry in append.entries):
        telemetry.log(
            "window_not_grown",
            reason="only system messages: they are recorded, and never stand in the window",
            tenant=append.tenant,
            thread=receipts.thread,
            messages=len(append.entries),
        )
