"""Power cuts, replayed: what a store in use has written, cut off at random moments, and opened again."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import apsw

from rememberd import wiring
from rememberd.errors import RememberdError
from rememberd.model import NewMessage, Scope
from rememberd.settings import load_settings

from .disk import Fate, Mark, Platter, RecordingDisk
from .load import USER, read_thread
from .verdict import NUMBER, Acknowledged, Row, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from random import Random

    from rememberd.model import Message
    from rememberd.settings import Settings

    from .disk import Event
    from .served import Place

    Advance = Callable[[int, int | None], None]

_CLIENTS = 8
_MESSAGES = 50  # of each client
_LONG = "a long message " * 200  # so that SQLite moves its log into the database now and then
_DATABASE = "memory.db"
_FATES: tuple[Fate, ...] = get_args(Fate)


@dataclass(frozen=True, slots=True)
class Cut:
    """One cut: what was acknowledged before it, and what was there after it."""

    fate: Fate
    acknowledged: int
    verdict: Verdict
    failure: str | None
    ready_again: float


async def power_cuts(place: Place, random: Random, times: int, *, advance: Advance | None = None) -> list[Cut]:
    """Use a store, cut its power ``times`` times at random moments, and open what each cut left."""
    settings = load_settings(environment={}, dotenv=None, given=place.settings)
    events = await _use(place.folder / "recorded", settings)
    first = next(number for number, event in enumerate(events, 1) if isinstance(event, Mark))
    moments = sorted(random.randint(first, len(events)) for _ in range(times))
    cuts: list[Cut] = []
    acknowledged: list[Acknowledged] = []
    platter, followed = Platter(), 0
    for number, moment in enumerate(moments, 1):
        for event in events[followed:moment]:
            platter.follow(event)
            if isinstance(event, Mark):
                acknowledged.append(event.what)
        followed = moment
        fate = _FATES[number % len(_FATES)]
        cuts.append(await _open_after(platter.after_cut(fate, random), fate, acknowledged, place.folder, settings))
        if advance:
            advance(number, times)
    return cuts


def row_of(cuts: Sequence[Cut]) -> Row:
    def ids(of: Callable[[Verdict], tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(sorted({id_ for cut in cuts for id_ in of(cut.verdict)}))

    return Row(
        fault="power cut",
        tries=len(cuts),
        acknowledged=sum(cut.acknowledged for cut in cuts),
        lost=ids(lambda verdict: verdict.lost),
        duplicated=ids(lambda verdict: verdict.duplicated),
        disordered=ids(lambda verdict: verdict.disordered),
        failures=tuple(sorted({cut.failure for cut in cuts if cut.failure})),
        ready_again=max((cut.ready_again for cut in cuts), default=None),
    )


async def _use(folder: Path, settings: Settings) -> list[Event]:
    """What happened on the disk while clients talked, and when each message was acknowledged."""
    disk = RecordingDisk()
    try:
        engine = (await wiring.open_folder(folder, settings, vfs=disk.name)).engine

        async def talk(client: int) -> None:
            thread, name = f"thread-{client // 2}", f"client-{client}"
            for number in range(1, _MESSAGES + 1):
                content = f"{name} says {number}: {_LONG}"
                said = NewMessage(role="user", name=name, content=content, metadata={NUMBER: number})
                receipt = (await engine.ingest(Scope(user=USER, thread=thread), [said], None)).receipts[0]
                disk.events.append(Mark(Acknowledged(thread, receipt.id, receipt.seq, content)))

        try:
            async with asyncio.TaskGroup() as clients:
                for client in range(_CLIENTS):
                    clients.create_task(talk(client))
        finally:
            await engine.close()
    finally:
        disk.close()
    return disk.events


async def _open_after(
    files: dict[str, bytes], fate: Fate, acknowledged: Sequence[Acknowledged], scratch: Path, settings: Settings
) -> Cut:
    folder = _laid_out(files, scratch)
    began = time.monotonic()
    failure = None
    record: dict[str, list[Message]] = {}
    ready_again = 0.0
    try:
        engine = (await wiring.open_folder(folder, settings)).engine
        try:
            ready_again = time.monotonic() - began
            for thread in {one.thread for one in acknowledged}:
                record[thread] = await read_thread(engine, thread)
        finally:
            await engine.close()
        failure = next(_damage(folder / _DATABASE), None)
    except RememberdError as error:
        failure = f"the store does not open: {error.detail}"
    return Cut(fate, len(acknowledged), judge(acknowledged, record), failure, ready_again)


_images = itertools.count(1)


def _laid_out(files: dict[str, bytes], scratch: Path) -> Path:
    folder = scratch / f"cut-{next(_images)}"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def _damage(database: Path) -> Iterator[str]:
    connection = apsw.Connection(str(database))
    try:
        for (found,) in connection.execute("PRAGMA integrity_check"):
            if found != "ok":
                yield f"the database is damaged: {found}"
    finally:
        connection.close()
