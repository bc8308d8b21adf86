"""A disk that refuses: one write or sync after another fails, and what was acknowledged is there all the same."""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import apsw

from rememberd import wiring
from rememberd.errors import RememberdError
from rememberd.model import NewMessage, Scope
from rememberd.settings import load_settings

from .load import USER, drained, read_thread
from .verdict import NUMBER, Acknowledged, Row, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rememberd.settings import Settings
    from rememberd.verbs import Engine

    from .served import Place

    Advance = Callable[[int, int | None], None]

_MESSAGES = 12
_LONG = "a long message " * 200
_THREAD = "thread"
_REFUSALS: tuple[type[apsw.Error], ...] = (apsw.IOError, apsw.FullError)

_numbers = itertools.count(1)


class RefusingDisk(apsw.VFS):
    """Refuses the ``nth`` of the calls that change a file, or the next when it is told to. ``calls`` counts them."""

    def __init__(self, refusal: type[apsw.Error], nth: int = 0) -> None:
        self.name = f"rememberd-refusing-{next(_numbers)}"
        self.calls = 0
        self._nth = nth
        self._refusal = refusal
        super().__init__(self.name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return _RefusedFile(self, name, flags)

    def refuse_next(self) -> None:
        self._nth = self.calls + 1

    def heed(self) -> None:
        self.calls += 1
        if self.calls == self._nth:
            raise self._refusal("refused on purpose")


class _RefusedFile(apsw.VFSFile):
    def __init__(self, disk: RefusingDisk, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.heed()
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.heed()
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.heed()
        super().xSync(flags)


async def refusals(place: Place, times: int, *, advance: Advance | None = None) -> Row:
    """Refuse ``times`` calls, spread over all that a store makes, each in a store of its own."""
    settings = load_settings(environment={}, dotenv=None, given=place.settings)
    acknowledged, verdicts, failures = 0, list[Verdict](), list[str]()
    sound = RefusingDisk(apsw.IOError)
    await _use(place.folder / "sound", settings, sound)
    for number in range(1, times + 1):
        refusal = _REFUSALS[number % len(_REFUSALS)]
        disk = RefusingDisk(refusal, max(1, sound.calls * number // times))
        folder = place.folder / f"refused-{number}"
        said = await _use(folder, settings, disk)
        acknowledged += len(said)
        verdict, failure = await _look(folder, settings, said)
        verdicts.append(verdict)
        if failure is None and len(said) < _MESSAGES - 1 and said:
            failure = f"{_MESSAGES - len(said)} messages were refused after one {refusal.__name__}"
        failures += [failure] if failure else []
        if advance:
            advance(number, times)
    return Row(
        fault="write or sync refused by the disk",
        tries=times,
        acknowledged=acknowledged,
        lost=tuple(id_ for verdict in verdicts for id_ in verdict.lost),
        duplicated=tuple(id_ for verdict in verdicts for id_ in verdict.duplicated),
        disordered=tuple(id_ for verdict in verdicts for id_ in verdict.disordered),
        failures=tuple(failures),
    )


async def _use(folder: Path, settings: Settings, disk: RefusingDisk) -> list[Acknowledged]:
    """What a store acknowledged on this disk; nothing, if it could not be opened at all."""
    said: list[Acknowledged] = []
    with suppress(RememberdError, apsw.Error):  # the disk is heard even at the end, where SQLite itself would not mind
        engine = (await wiring.open_folder(folder, settings, vfs=disk.name)).engine
        try:
            for number in range(1, _MESSAGES + 1):
                with suppress(RememberdError):
                    said.append(await _say(engine, number))
        finally:
            await engine.close()
    disk.unregister()
    return said


async def _say(engine: Engine, number: int) -> Acknowledged:
    content = f"{number}: {_LONG}"
    message = NewMessage(role="user", name=USER, content=content, metadata={NUMBER: number})
    receipt = (await engine.ingest(Scope(user=USER, thread=_THREAD), [message], None)).receipts[0]
    return Acknowledged(_THREAD, receipt.id, receipt.seq, content)


async def _look(folder: Path, settings: Settings, said: list[Acknowledged]) -> tuple[Verdict, str | None]:
    """What a sound disk shows of it."""
    try:
        engine = (await wiring.open_folder(folder, settings)).engine
    except RememberdError as error:
        return judge(said, {}), f"the store does not open: {error.detail}"
    try:
        await drained(engine)
        return judge(said, {_THREAD: await read_thread(engine, _THREAD)}), None
    finally:
        await engine.close()
