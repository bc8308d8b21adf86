"""THE table of commands. Only the module of the command that is asked for is imported, so that each starts fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from rememberd.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "serve": "Serve memory over HTTP.",
    "demo": "See two conversations remembered, in seconds.",
    "ingest": "Record the messages of a JSONL file.",
    "query": "Recall what bears on a text.",
    "history": "Read the record back.",
    "memories": "List, add, get, revise and delete memory items.",
    "stats": "Count what is stored.",
    "failures": "List, show, replay and discard what could not be written.",
    "rebuild": "Make a view again from storage.",
    "jobs": "List, show, retry and cancel background work.",
    "backup": "Write everything to one archive.",
    "restore": "Make a folder again from an archive.",
    "doctor": "Check everything; each symptom has its cure.",
    "prove": "Make faults, and show that nothing is lost.",
    "models": "Fetch and verify models, and change them.",
    "keys": "Add, list and revoke API keys.",
    "version": "Print the version.",
}


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The whole command line, with only the asked-for command loaded; the others are there for the help."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        callback=_root,
        invoke_without_command=True,
    )
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, about in COMMANDS.items():
        if name == asked:
            _load(app, name, about)
        else:
            app.command(name, help=about)(_not_loaded)
    return app


def _load(app: typer.Typer, name: str, about: str) -> None:
    """A command is what its module holds under its name: a function, or a Typer of several."""
    command = getattr(import_module(f"{__package__}.{name}"), name)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, help=about)
    else:
        app.command(name, short_help=about)(command)


def _not_loaded() -> None: ...


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """The memory of AI agents: records, remembers, recalls inside a token budget."""
    if context.invoked_subcommand is None:
        print(context.get_help())
