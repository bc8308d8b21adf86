"""rememberd prove: faults on purpose, on one's own disk or database server, and what each of them cost."""

from __future__ import annotations

import secrets
import signal
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from rememberd.prove import Measure, Part, Row, parts, scratch_place
from rememberd.settings import load_settings

from .command import command
from .exits import UNHEALTHY
from .options import ConfigFile
from .output import Output
from .pictures import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from rich.table import Table

_SHOWN = 5
_PARTS = "kills, crashes, cuts, refusals, replies or isolation"


@command
async def prove(
    output: Output,
    place: Annotated[
        str | None, typer.Argument(metavar="[URL|FOLDER]", help="postgresql://…, or a folder on the disk to try.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="PART", help=f"{_PARTS}; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeat a run's random choices.")] = None,
    config: ConfigFile = None,
) -> None:
    """Kill servers, cut the power, drop replies, reach for other people's memory; about a minute.

    All of it happens in a scratch folder or database of its own, which is removed afterwards, with your settings of the
    storage. Exits with 1 if anything acknowledged was lost.
    """
    if place is not None and place.startswith(("http://", "https://")):
        raise typer.BadParameter("a running server is not killed to prove something; name its folder or its database")
    settings = load_settings(config)
    where = place or settings.maybe("database.dsn") or settings.text("data.folder")
    seed = secrets.randbits(32) if seed is None else seed
    rows: list[Row] = []
    with _ending_well():
        async with scratch_place(where, settings) as scratch:
            wanted = _chosen(parts(scratch, Random(seed), Measure()), only)  # noqa: S311 - no secret
            for name, part in wanted.items():
                with output.progress(name) as advance:
                    rows.append(await part(advance))
                output.note(f"{name}: {'ok' if rows[-1].passed else 'FAILED'}")
    passed = all(row.passed for row in rows)
    output.show({"passed": passed, "seed": seed, "faults": rows}, _picture(rows), *_complaints(rows))
    if not passed:
        raise typer.Exit(UNHEALTHY)


def _chosen(there: dict[str, Part], only: Sequence[str] | None) -> dict[str, Part]:
    unknown = set(only or ()) - set(there)
    if unknown:
        raise typer.BadParameter(f"--only takes {', '.join(there)}, not {', '.join(sorted(unknown))}")
    return {name: part for name, part in there.items() if not only or name in only}


def _picture(rows: Sequence[Row]) -> Table:
    shape = table("fault", "tries", "lost", "duplicated", "ready again", "")
    for row in rows:
        lost = Text(f"{len(row.lost):,} of {row.acknowledged:,}", "bold red" if row.lost else "")
        duplicated = Text(f"{len(row.duplicated):,}", "bold red" if row.duplicated else "")
        ready_again = "" if row.ready_again is None else f"≤ {row.ready_again:.2f} s"
        passed = Text("ok", "green") if row.passed else Text("FAILED", "bold red")
        shape.add_row(row.fault, f"{row.tries:,}", lost, duplicated, ready_again, passed)
    return shape


def _complaints(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for what in ("lost", "duplicated", "disordered", "leaked", "failures"):
            found: tuple[str, ...] = getattr(row, what)
            if found:
                more = f" … {len(found):,} in all" if len(found) > _SHOWN else ""
                yield f"{row.fault}: {what}: {', '.join(found[:_SHOWN])}{more}"


@contextmanager
def _ending_well() -> Iterator[None]:
    """A wish to end is met like Ctrl-C: the servers that were started are ended, the scratch place is removed."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
