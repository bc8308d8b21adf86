"""rememberd failures: what could not be written, and another try."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rememberd.errors import NotFound

from .command import command
from .options import After, Limit, Place
from .output import Output
from .pictures import messages_table, moment, said, table

if TYPE_CHECKING:
    from rememberd.memory import Memory

failures = typer.Typer(rich_markup_mode=None)

_PATIENCE = 10.0
_PAUSE = 0.05

FailureId = Annotated[str, typer.Argument(metavar="ID", help="The failure's id.")]


@failures.command("list")
@command
async def list_failures(
    place: Place,
    output: Output,
    state: Annotated[
        Literal["waiting", "dead"] | None, typer.Option("--state", help="Only what waits, or only dead letters.")
    ] = None,
    limit: Limit = 50,
    after: After = None,
) -> None:
    """List what waits for the storage and what failed for good, oldest first."""
    async with place.connect() as memory:
        page = await memory.operate.failures(state, after=after, limit=limit)
    shape = table("id", "state", "came", "tenant", "thread", "what", "attempts", "reason")
    for each in page.items:
        what = f"{each.action}, {each.count} messages" if each.count != 1 else f"{each.action}, 1 message"
        shape.add_row(
            each.id, each.state, moment(each.first_at), said(each.tenant), said(each.thread), what, str(each.attempts),
            said(each.reason or ""),
        )  # fmt: skip
    output.show(page, shape if page.items else "Nothing failed, and nothing waits.")
    if page.next:
        output.note(f"more: --after {page.next}")


@failures.command("show")
@command
async def show(failure_id: FailureId, place: Place, output: Output) -> None:
    """Show one of them: its messages, and why the storage refused it."""
    async with place.connect() as memory:
        failure = await memory.operate.failure(failure_id)
    shape = table("", "")
    for name in ("id", "state", "action", "tenant", "user", "thread", "attempts", "reason", "detail"):
        shape.add_row(name, said(str(getattr(failure, name) or "")))
    shape.add_row("first", moment(failure.first_at))
    shape.add_row("last", moment(failure.last_at) if failure.last_at else "")
    output.show(failure, shape, messages_table(failure.messages))


@failures.command("replay")
@command
async def replay(
    place: Place,
    output: Output,
    failure_id: Annotated[str | None, typer.Argument(metavar="ID", help="The dead letter's id.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All dead letters.")] = False,
) -> None:
    """Let dead letters wait for the storage again, with their attempts forgotten."""
    if everything == (failure_id is not None):
        raise typer.BadParameter("give either an ID or --all")
    async with place.connect() as memory:
        replayed = await memory.operate.replay_failures(failure_id)
        waiting = await _waiting(memory)
    output.show({"replayed": replayed}, f"{replayed:,} replayed; {waiting}")


async def _waiting(memory: Memory) -> str:
    """Whether something waits still, after a while: only an open memory brings it to the storage."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while (await memory.operate.failures("waiting", limit=1)).items:
                await asyncio.sleep(_PAUSE)
            return "nothing waits any more"
    return "some wait still: rememberd failures list"


@failures.command("discard")
@command
async def discard(failure_id: FailureId, place: Place, output: Output) -> None:
    """Give a dead letter up for good."""
    async with place.connect() as memory:
        if not await memory.operate.discard_failure(failure_id):
            raise NotFound(f"no dead letter {failure_id!r}")
    output.show({"id": failure_id, "discarded": True}, f"{failure_id} is discarded.")
