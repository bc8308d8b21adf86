"""The same random operations on the reference and on another place, which is reopened in between, give the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from rememberd.backends.reference import ReferenceWindows
from rememberd.conformance import AnyPlace, IndexPlace, Place, WindowsPlace

from .comparison import SETTINGS
from .index_machine import IndexMachine
from .jobs_machine import JobsMachine
from .memories_machine import MemoriesMachine
from .places import INDEX_PLACES
from .records_machine import RecordsMachine, WindowsMachine

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Drive


def test_records_are_the_same_as_the_references(place: AnyPlace, drive: Drive) -> None:
    storage = _offering_storage(place)
    _run(lambda: RecordsMachine(drive, storage))


def test_windows_tell_what_the_record_tells(place: AnyPlace, drive: Drive) -> None:
    storage = _offering_storage(place)

    def machine() -> WindowsMachine:
        windows = drive(place.open_windows()) if isinstance(place, WindowsPlace) else ReferenceWindows(capacity=2)
        return WindowsMachine(drive, storage, windows)

    _run(machine)


def test_memories_are_the_same_as_the_references(place: AnyPlace, drive: Drive) -> None:
    storage = _offering_storage(place)
    _run(lambda: MemoriesMachine(drive, storage))


def test_jobs_are_the_same_as_the_references(place: AnyPlace, drive: Drive) -> None:
    storage = _offering_storage(place)
    _run(lambda: JobsMachine(drive, storage))


@pytest.mark.parametrize("place", INDEX_PLACES, indirect=True)
def test_the_index_finds_what_the_reference_finds(place: AnyPlace, drive: Drive) -> None:
    assert isinstance(place, IndexPlace)
    index = place
    _run(lambda: IndexMachine(drive, index))


def _run(machine: Callable[[], RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(cast("type[RuleBasedStateMachine]", machine), settings=SETTINGS)


def _offering_storage(place: AnyPlace) -> Place:
    assert isinstance(place, Place)
    return place
