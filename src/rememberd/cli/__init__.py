"""The command line: one file per command, listed in ``table``. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from rememberd.errors import RememberdError

from .exits import report
from .table import app_for

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the answer is its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app_for(given)(given, prog_name="rememberd", standalone_mode=False)
    except (RememberdError, typer.TyperException) as failure:
        return report(failure, as_json="--json" in given)
    return code if isinstance(code, int) else 0
