"""rememberd rebuild: a view made again from storage."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from rememberd.model import Progress

from .command import command
from .exits import UNHEALTHY
from .options import Place
from .output import Output

_COMPARED = {True: "It is equal to the old one.", False: "The old one was different.", None: "Nobody could compare it."}


@command
async def rebuild(
    place: Place,
    output: Output,
    view: Annotated[Literal["index", "window"], typer.Option("--view", help="Which view.")] = "index",
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare it with the old one; exits with 1 if they are not equal.")
    ] = False,
) -> None:
    """Make a view again from storage. The old one serves meanwhile; a rebuild that was interrupted goes on."""
    reached = Progress(0, 0)
    with output.progress(f"rebuilding the {view}") as advance:
        async with place.connect() as memory:
            async for reached in memory.operate.rebuild(view, verify=verify):
                advance(reached.done, reached.total)
    done = {"view": view, "done": reached.done, "total": reached.total, "equal": reached.equal}
    output.show(done, " ".join([f"The {view} is rebuilt.", *([_COMPARED[reached.equal]] if verify else [])]))
    if verify and not reached.equal:
        raise typer.Exit(UNHEALTHY)
