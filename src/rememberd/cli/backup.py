"""rememberd backup: everything in one archive, while it is being written to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .command import command
from .options import Place
from .output import Output


@command
async def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write; a file that is not there yet.")],
    place: Place,
    output: Output,
) -> None:
    """Write everything acknowledged so far to one archive, which `rememberd restore` reads. Writers go on meanwhile."""
    with output.progress("backing up") as advance:
        async with place.connect() as memory:
            async for reached in memory.operate.backup(file):
                advance(reached.done, reached.total or None)
    size = file.stat().st_size
    output.show({"file": str(file), "size": size}, f"{file}: {size:,} bytes.")
