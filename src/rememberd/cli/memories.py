"""rememberd memories: what is worth keeping beyond its thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rememberd.flow.accept import accept_moment

from .command import command
from .options import Address, After, Filter, Limit, Place, by_key, filters_of
from .output import Output
from .pictures import memories_table, moment, said, table

if TYPE_CHECKING:
    from datetime import datetime

    from rich.table import Table

    from rememberd.model import MemoryItem

memories = typer.Typer(rich_markup_mode=None)

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory item's id.")]
Expected = Annotated[
    int | None, typer.Option("--expected", metavar="REVISION", help="Only if this is the current revision.")
]
Moment = Annotated[str | None, typer.Option(metavar="TIME", help="Like 2026-11-15T08:00:00Z.")]


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a memory item besides its text."""

    kind: Annotated[str | None, typer.Option("--kind", help="fact, preference, summary, knowledge …")] = None
    source: Annotated[str | None, typer.Option("--source", help="Where it comes from.")] = None
    importance: Annotated[float | None, typer.Option("--importance", help="From 0 to 1.")] = None
    topic: Annotated[str | None, typer.Option("--topic", help="What it is about.")] = None
    domain: Annotated[str | None, typer.Option("--domain", help="Which field it belongs to.")] = None
    valid_from: Moment = None
    valid_until: Moment = None
    expires_at: Moment = None
    metadata: Annotated[
        list[str] | None, typer.Option("--metadata", metavar="KEY=VALUE", help="Kept with it; repeatable.")
    ] = None

    def given(self) -> dict[str, Any]:
        """The fields that were given, as the verbs of memory take them."""
        plain = {name: getattr(self, name) for name in ("kind", "source", "importance", "topic", "domain")}
        moments: dict[str, datetime | None] = {
            name: accept_moment(getattr(self, name), f"/{name}") for name in ("valid_from", "valid_until", "expires_at")
        }
        metadata = {key: values[-1] for key, values in by_key(self.metadata, "--metadata").items()} or None
        return {name: value for name, value in {**plain, **moments, "metadata": metadata}.items() if value is not None}


@memories.command("list")
@command
async def list_memories(
    place: Place, address: Address, output: Output, only: Filter = None, limit: Limit = 50, after: After = None
) -> None:
    """List the memory items of a scope, the latest change first."""
    async with place.connect() as memory:
        page = await memory.list(address.scope, filters=filters_of(only), after=after, limit=limit)
    output.show(page, memories_table(page.items))
    if page.next is not None:
        output.note(f"more: --after {page.next}")


@memories.command("add")
@command
async def add(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    fields: Fields,
    place: Place,
    address: Address,
    output: Output,
    idempotency_key: Annotated[
        str | None, typer.Option("--idempotency-key", metavar="KEY", help="Makes a retry harmless.")
    ] = None,
) -> None:
    """Remember something by hand."""
    async with place.connect() as memory:
        item = await memory.add(address.scope, text, idempotency_key=idempotency_key, **fields.given())
    output.show(item, item.id)


@memories.command("get")
@command
async def get(memory_id: MemoryId, place: Place, address: Address, output: Output) -> None:
    """Show a memory item as it is now."""
    async with place.connect() as memory:
        item = await memory.get(address.scope, memory_id)
    output.show(item, _card(item))


@memories.command("revise")
@command
async def revise(
    memory_id: MemoryId,
    fields: Fields,
    place: Place,
    address: Address,
    output: Output,
    text: Annotated[str | None, typer.Option("--text", help="The new text.")] = None,
    expected: Expected = None,
) -> None:
    """Store a new revision with the changed fields; the old one is kept."""
    changes = fields.given() | ({} if text is None else {"text": text})
    if not changes:
        raise typer.BadParameter("nothing to change: give --text or another field")
    async with place.connect() as memory:
        item = await memory.revise(address.scope, memory_id, expected=expected, **changes)
    output.show(item, _card(item))


@memories.command("delete")
@command
async def delete(
    memory_id: MemoryId, place: Place, address: Address, output: Output, expected: Expected = None
) -> None:
    """Delete a memory item; its revisions are kept."""
    async with place.connect() as memory:
        await memory.delete(address.scope, memory_id, expected=expected)
    output.show({"id": memory_id, "deleted": True}, f"{memory_id} is deleted.")


@memories.command("versions")
@command
async def versions(memory_id: MemoryId, place: Place, address: Address, output: Output) -> None:
    """List every revision of a memory item, oldest first."""
    async with place.connect() as memory:
        revisions = await memory.versions(address.scope, memory_id)
    output.show({"items": revisions, "next": None}, memories_table(revisions))


def _card(item: MemoryItem) -> Table:
    shape = table("", f"revision {item.revision} of {moment(item.revised_at)}")
    for name in ("id", "kind", "text", "user", "agent", "thread", "source", "topic", "domain", "importance"):
        value = getattr(item, name)
        if value is not None:
            shape.add_row(name, said(str(value)))
    for name in ("valid_from", "valid_until", "expires_at"):
        if (at := getattr(item, name)) is not None:
            shape.add_row(name, moment(at))
    for key, value in item.metadata.items():
        shape.add_row(said(f"metadata.{key}"), said(str(value)))
    return shape
