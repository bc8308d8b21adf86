"""rememberd history: the record, read back."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .command import command
from .options import Address, After, Limit, Place
from .output import Output
from .pictures import messages_table


@command
async def history(
    place: Place,
    address: Address,
    output: Output,
    limit: Limit = 50,
    order: Annotated[Literal["newest", "oldest"], typer.Option("--order", help="Which come first.")] = "newest",
    after: After = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="WORDS", help="Only messages with all of these words.")
    ] = None,
) -> None:
    """Read the record of a scope back, the newest message first."""
    async with place.connect() as memory:
        page = await memory.history(address.scope, limit=limit, order=order, after=after, search=search)
    output.show(page, messages_table(page.items))
    address.note_if_nobody(output, found=bool(page.items))
    if page.next is not None:
        output.note(f"more: --after {page.next}")
