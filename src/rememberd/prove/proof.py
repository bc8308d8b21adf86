"""The proof: one fault after another, in a scratch place on somebody's own disk or database server."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rememberd import wiring
from rememberd.errors import StorageUnavailable

from .cuts import power_cuts, row_of
from .drops import dropped_replies
from .isolation import isolation
from .kills import crashes, random_kills
from .refusals import refusals
from .scenarios import SCENARIOS
from .served import Place
from .verdict import Row

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from random import Random

    from rememberd.settings import Settings


Advance: TypeAlias = Callable[[int, int | None], None]

#: Settings of their owner that a proof leaves out: it has places, addresses and API keys of its own, and no models.
_OF_ITS_OWN = ("data.", "database.dsn", "server.", "models.", "tokens.", "log.")
_PLAIN = {"models.embedder": "none", "tokens.encoding": "estimate", "log.level": "error"}


@dataclass(frozen=True, slots=True)
class Measure:
    """How much is done: the default takes about a minute."""

    kills: int = 12
    kill_seconds: float = 15.0
    crashes: int = 1
    crash_seconds: float = 30.0
    cuts: int = 150
    refusals: int = 20
    replies: int = 500


#: Carries out a part of the proof.
Part: TypeAlias = Callable[[Advance], Awaitable[Row]]


def parts(place: Place, random: Random, measure: Measure) -> dict[str, Part]:
    """What is done in a place, by name. Disks are cut off and made to refuse where SQLite writes the files."""

    async def cuts(advance: Advance) -> Row:
        return row_of(await power_cuts(place, random, measure.cuts, advance=advance))

    async def refuse(advance: Advance) -> Row:
        return await refusals(place, measure.refusals, advance=advance)

    points = [name for name, scenario in SCENARIOS.items() if place.is_folder or not scenario.folder_only]
    random.shuffle(points)  # on a slow machine there is time for some of them only
    return {
        "kills": lambda advance: random_kills(
            place, random, measure.kills, seconds=measure.kill_seconds, advance=advance
        ),
        "crashes": lambda advance: crashes(
            place, random, points * measure.crashes, seconds=measure.crash_seconds, advance=advance
        ),
        **({"cuts": cuts, "refusals": refuse} if place.is_folder else {}),
        "replies": lambda advance: dropped_replies(place, measure.replies, advance=advance),
        "isolation": lambda advance: isolation(place),
    }


@asynccontextmanager
async def scratch_place(where: str, settings: Settings) -> AsyncIterator[Place]:
    """A place below a folder, or a database on a server, with the settings of its owner; removed afterwards."""
    carried = {
        setting.name: setting.value
        for setting in settings.described()
        if setting.origin != "default" and not setting.name.startswith(_OF_ITS_OWN)
    }
    if wiring.is_server(where):
        async with wiring.scratch_database(where) as url:
            with tempfile.TemporaryDirectory(prefix="rememberd-prove-") as folder:
                yield Place(Path(folder), {**carried, **_PLAIN, "database.dsn": url})
    else:
        with _folder_below(Path(where)) as folder:
            yield Place(Path(folder), {**carried, **_PLAIN})


def _folder_below(where: Path) -> tempfile.TemporaryDirectory[str]:
    there = where.absolute()
    nearest = next(folder for folder in (there, *there.parents) if folder.is_dir())
    try:
        return tempfile.TemporaryDirectory(prefix="rememberd-prove-", dir=nearest)
    except OSError as error:
        raise StorageUnavailable(f"nothing can be written in {nearest}: {error.strerror}") from error
