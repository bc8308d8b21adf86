"""rememberd rebuild: a view made again from storage."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from rememberd.model import Progress

from .command import command
from .options import Place
from .output import Output


@command
async def rebuild(
    place: Place,
    output: Output,
    view: Annotated[Literal["index", "window"], typer.Option("--view", help="Which view.")] = "index",
) -> None:
    """Drop a view and make it again from storage. Queries stay right meanwhile."""
    reached = Progress(0, 0)
    with output.progress(f"rebuilding the {view}") as advance:
        async with place.connect() as memory:
            async for reached in memory.operate.rebuild(view):
                advance(reached.done, reached.total)
    done = {"view": view, "done": reached.done, "total": reached.total}
    output.show(done, f"The {view} is rebuilt.")
