"""rememberd query: recall what bears on a text."""

from __future__ import annotations

from typing import Annotated

import typer

from rememberd.client.wire import query_answer

from .command import command
from .options import Address, Filter, Place, filters_of
from .output import Output
from .pictures import recalled


@command
async def query(
    text: Annotated[str, typer.Argument(help="What to recall for.")],
    place: Place,
    address: Address,
    output: Output,
    k: Annotated[int, typer.Option("--k", "-k", help="How many hits to show.")] = 10,
    budget: Annotated[int, typer.Option("--budget", help="Tokens that the context may have.")] = 1500,
    only: Filter = None,
    timezone: Annotated[
        str | None, typer.Option("--timezone", metavar="ZONE", help="Where a day begins, like Asia/Shanghai. [UTC]")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what was kept and dropped and why, with the parts of each score.")
    ] = False,
) -> None:
    """Recall what bears on a text: the best hits first or, with --explain, what the context is made of and why."""
    async with place.connect() as memory:
        context = await memory.query(
            address.scope, text, k=k, budget=budget, filters=filters_of(only), timezone=timezone, explain=explain
        )
    output.show(query_answer(context), *recalled(context, timezone=timezone))
    address.note_if_nobody(output, found=bool(context.raw))
    for missing in context.degraded:
        output.note(f"degraded: {missing}")
