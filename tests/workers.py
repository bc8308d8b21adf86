"""Several workers run the tests at once; beside one that measures time, marked ``alone``, the others wait."""

from __future__ import annotations

import fcntl
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import postgres

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_FOLDER, _POSTGRESQL = "rememberd_folder", "rememberd_postgresql"


def plugin(config: Any) -> Started | Worker:
    """The part of this process."""
    return Worker(config.workerinput, config.workeroutput) if hasattr(config, "workerinput") else Started()


class Started:
    """The process that somebody started: it gives the workers a folder to meet in, and hears what they ran on."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rememberd-workers-")
        self._versions = set[str]()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_FOLDER] = self._folder.name

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {})  # a worker that crashed tells nothing
        self._versions |= {told[_POSTGRESQL]} if _POSTGRESQL in told else set()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if postgres.was_started():
            self._versions.add(postgres.server().version)
        line = f"ran on a real PostgreSQL {', '.join(self._versions)}" if self._versions else "PostgreSQL was not run"
        terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        self._folder.cleanup()


class Worker:
    """One of several: its tests take turns with those of the others."""

    def __init__(self, told: dict[str, Any], telling: dict[str, Any]) -> None:
        self._folder = Path(told[_FOLDER])
        self._telling = telling

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        with turn(self._folder, alone=item.get_closest_marker("alone") is not None):
            return (yield)

    def pytest_sessionfinish(self) -> None:
        if postgres.was_started():
            self._telling[_POSTGRESQL] = postgres.server().version


@contextmanager
def turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """Be in the room with others, or alone. Whoever waits stands in the door, so nobody is let in before them."""
    with (folder / "room").open("ab") as room:
        with (folder / "door").open("ab") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
