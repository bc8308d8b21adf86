"""rememberd restore: a folder made again from an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rememberd import wiring
from rememberd.model import Progress
from rememberd.settings import load_settings

from .command import command
from .options import ConfigFile, DataFolder
from .output import Output


@command
async def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive that `rememberd backup` wrote.")],
    output: Output,
    data: DataFolder = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a folder that is not empty; the old one is kept beside it.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Make a folder what it was when the archive was made: all of it, or nothing. A damaged archive is refused."""
    folder = load_settings(config, given={"data.folder": data}).text("data.folder")
    replaced = None
    with output.progress("restoring") as advance:
        async for reached in wiring.restore_folder(file, folder, replace=force):
            if isinstance(reached, Progress):
                advance(reached.done, reached.total)
            else:
                replaced = None if reached.replaced is None else str(reached.replaced)
    kept = [] if replaced is None else [f"What was there before is in {replaced}."]
    output.show({"folder": folder, "replaced": replaced}, f"{folder} is restored.", *kept)
