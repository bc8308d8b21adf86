"""One loop for the whole folder, and each place of the table made once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from .places import PLACES, MakePlace

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from rememberd.conformance import AnyPlace

T = TypeVar("T")


class Drive:
    """Runs coroutines to their end on one loop, so that connections outlive a single call."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(coroutine)


@pytest.fixture(scope="session")
def drive() -> Iterator[Drive]:
    with asyncio.Runner() as runner:
        yield Drive(runner)


@pytest.fixture(scope="session", params=PLACES)
def place(request: pytest.FixtureRequest, drive: Drive, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyPlace]:
    make: MakePlace = request.param
    with make(tmp_path_factory.mktemp("place")) as made:
        yield made
