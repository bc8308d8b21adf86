"""What every test may use: stores of every kind, under a clock that the test turns."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import apsw
import pytest

from rememberd import wiring
from rememberd.memory import Memory
from rememberd.ports.feed import Advance
from rememberd.settings import Settings, load_settings

from . import postgres, workers

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from pathlib import Path

    from rememberd.ports.parts import Parts

R = TypeVar("R")

KINDS = ("reference", "folder", pytest.param("postgresql", marks=pytest.mark.integration))


class Clock:
    """Time as the test tells it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> datetime:
        self.now += timedelta(**by)
        return self.now


def plain_settings(**given: Any) -> Settings:
    """Settings that nothing outside the test can change; models only where a test asks for them."""
    names = {"models.embedder": "none", "tokens.encoding": "estimate"} | {
        name.replace("__", "."): value for name, value in given.items()
    }
    return load_settings(environment={}, dotenv=None, given=names)


class Store:
    """A memory, the loop it lives on, and the clock it sees; ``reopen`` closes it and opens it again."""

    def __init__(self, kind: str, folder: Path, settings: Settings) -> None:
        self.kind, self.folder, self.settings = kind, folder, settings
        self.clock = Clock()
        self.url = postgres.server().fresh_database() if kind == "postgresql" else str(folder)
        self._runner = asyncio.Runner()
        self.memory = self.run(self._open())

    def run(self, call: Coroutine[Any, Any, R]) -> R:
        return self._runner.run(call)

    def reopen(self, settings: Settings | None = None) -> None:
        assert self.kind != "reference", "the reference is gone when it is closed"
        self.settings = settings or self.settings
        self.run(self.memory.close())
        self.memory = self.run(self._open())

    @property
    def parts(self) -> Parts:
        return self.opened.engine._parts

    def catch_up(self) -> None:
        """Wait until what was to be written soon is written: writes are serial, so one more tells."""
        self.run(self.parts.storage.write(Advance("test", 1)))

    def close(self) -> None:
        self.run(self.memory.close())
        self._runner.close()

    async def _open(self) -> Memory:
        if self.kind == "reference":
            opened = await wiring.open_reference(self.settings, clock=self.clock)
        elif self.kind == "folder":
            opened = await wiring.open_folder(self.folder, self.settings, clock=self.clock)
        else:
            opened = await wiring.open_server(self.url, self.settings, clock=self.clock)
        self.opened = opened
        return Memory(opened.engine)


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """The same test on every storage."""
    made = Store(request.param, tmp_path / "memory", plain_settings())
    yield made
    made.close()


@pytest.fixture
def folder_store(tmp_path: Path) -> Iterator[Store]:
    made = Store("folder", tmp_path / "memory", plain_settings())
    yield made
    made.close()


def pytest_report_header() -> str:
    return f"storage engines: reference, SQLite {apsw.sqlite_lib_version()} (folder), PostgreSQL (started when needed)"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(workers.plugin(config))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that are run alone come last, when there is less for the others to wait with."""
    items.sort(key=lambda item: item.get_closest_marker("alone") is not None)


def pytest_sessionfinish() -> None:
    """Here, and not later: a worker that has told its end is given a few seconds only."""
    if postgres.was_started():
        postgres.server().stop()
