"""``rememberd serve`` in a process of its own, on a scratch place, for being killed and started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rememberd import crash
from rememberd.errors import StorageUnavailable
from rememberd.settings import TABLE

if TYPE_CHECKING:
    from asyncio.subprocess import Process

_PATIENCE = 60.0
_CLOSING = b"}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a proof is made: a folder of its own, and settings, which may name a database server for the storage."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_folder(self) -> bool:
        """Whether the storage is in the folder."""
        return "database.dsn" not in self.settings

    @property
    def log(self) -> Path:
        """What the server that was started last has said besides; a pipe that nobody reads would stop it in the end."""
        return self.folder / "server.log"


class Served:
    """A running server. ``took`` is the time from its start until it was ready, in seconds; ``queued`` is how much of
    that it had no core of the machine to run on."""

    def __init__(self, place: Place, process: Process, url: str, took: float, queued: float) -> None:
        self.place = place
        self._process = process
        self.url = url
        self.took = took
        self.queued = queued

    @classmethod
    async def start(
        cls, place: Place, *, port: int = 0, dies_at: str | None = None, settings: Mapping[str, str] | None = None
    ) -> Served | None:
        """Start, and wait until it is ready; None if it died of ``dies_at`` before that."""
        began = time.monotonic()
        with place.log.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "rememberd", "serve", "--json", "--port", str(port),
                cwd=place.folder, env=_environment({**place.settings, **(settings or {})}, dies_at),
                stdin=DEVNULL, stdout=PIPE, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            url = await asyncio.wait_for(_announced(process), _PATIENCE)
        except BaseException:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        if url is not None:
            return cls(place, process, url, time.monotonic() - began, _queued(process.pid))
        if await process.wait() != -signal.SIGKILL or dies_at is None:
            told = place.log.read_text(encoding="utf-8", errors="replace").strip()
            raise StorageUnavailable(f"rememberd did not start: {told}")
        return None

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal, if it lives, and wait until it is gone."""
        self.send(how)
        await self.wait()

    def send(self, how: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(how)

    async def wait(self, patience: float = _PATIENCE) -> int:
        """The way it ended. Raises ``TimeoutError`` if it does not."""
        await asyncio.wait_for(self._process.communicate(), patience)
        assert self._process.returncode is not None
        return self._process.returncode


def _queued(pid: int) -> float:
    """How many seconds a process was ready to run and did not, where the system tells."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


async def _announced(process: Process) -> str | None:
    """The address from the document that a server prints when it is ready; None when it ended without."""
    assert process.stdout is not None
    said = b""
    async for line in process.stdout:
        said += line
        if line.startswith(_CLOSING):
            return str(msgspec.json.decode(said)["url"])
    return None


def _environment(settings: Mapping[str, str], dies_at: str | None) -> dict[str, str]:
    """Ours, without what would change rememberd's settings, and with the settings of the proof."""
    variables = {variable for setting in TABLE.values() for variable in setting.variables}
    kept = {
        name: value for name, value in os.environ.items() if name not in variables and not name.startswith("REMEMBERD_")
    }
    chosen = {TABLE[name].variables[0]: value for name, value in settings.items()}
    return {**kept, **chosen, **({crash.VARIABLE: dies_at} if dies_at else {})}
