"""A PostgreSQL of a test's own, which the test may pause, kill and start again."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.postgres import PostgreSQL

if TYPE_CHECKING:
    from collections.abc import Iterator


class OwnPostgreSQL(PostgreSQL):
    """Only its own processes are signalled: the postmaster and its children."""

    def processes(self) -> list[int]:
        postmaster = int(self._server.get_pid() or 0)
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
        return [postmaster, *map(int, children.split())]

    def signal(self, what: signal.Signals) -> None:
        for process in self.processes():
            with suppress(ProcessLookupError):
                os.kill(process, what)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """It is there, and answers nobody."""
        self.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """As a power cut of that machine alone."""
        os.kill(self.processes()[0], signal.SIGSTOP)  # or it could have one more child than we know of
        processes = self.processes()
        self.signal(signal.SIGKILL)
        while any(_lives(process) for process in processes):
            time.sleep(0.01)
        for path in (self.folder / "postmaster.pid", *self.folder.glob(".s.PGSQL.*.lock")):
            path.unlink(missing_ok=True)  # its process may linger as a zombie, which looks alive

    def start(self) -> None:
        with self._server._lock:
            self._server.ensure_postgres_running()


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rpartition(")")[2].split()[0] not in "ZX"
