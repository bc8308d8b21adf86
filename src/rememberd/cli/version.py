"""rememberd version: which rememberd this is."""

from __future__ import annotations

from rememberd.version import __version__

from .command import command
from .output import Output


@command
def version(output: Output) -> None:
    """Print the version."""
    output.show({"version": __version__}, __version__)
