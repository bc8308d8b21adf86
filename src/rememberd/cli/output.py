"""Where answers go: one JSON document or a picture on stdout, notes and progress on stderr."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Protocol

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType


class Advance(Protocol):
    """Moves a progress bar to ``done`` of ``total``."""

    def __call__(self, done: int, total: int | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Output:
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False

    def show(self, document: object, *picture: RenderableType) -> None:
        """Print the answer: the document with ``--json``, the picture without."""
        if self.json:
            _print_json(document)
        else:
            _console().print(*picture, sep="\n", soft_wrap=True)

    def note(self, text: str) -> None:
        """Tell people something that is no part of the answer."""
        if not self.json:
            _console(stderr=True).print(text, style="dim", soft_wrap=True)

    @contextmanager
    def progress(self, what: str) -> Iterator[Advance]:
        """A bar while the block runs, on a terminal only."""
        console = _console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True, disable=self.json or not console.is_terminal) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def _print_json(document: object) -> None:
    print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode(), flush=True)


def _console(*, stderr: bool = False) -> Console:
    """What people said is shown as it is: no markup, no emoji codes."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)
