"""The kit itself: a backend that breaks a promise is found out, and the report says which and where."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from msgspec import structs

from rememberd.backends.reference import ReferenceIndex, ReferencePlace, ReferenceStorage, ReferenceWindows
from rememberd.backends.reference.spool import ReferenceSpool
from rememberd.conformance import AnyPlace, Report, run
from rememberd.ports.index import Document, Embedded, Gone, Search
from rememberd.ports.records import Append

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.model import Receipts, WindowRule
    from rememberd.ports.candidates import Candidates
    from rememberd.ports.spool import DeadLetter
    from rememberd.ports.storage import Write
    from rememberd.ports.windows import HeldWindow

    from .conftest import Drive

R = TypeVar("R")


class Halved(ReferenceStorage):
    """Commits operation by operation, so that a failing one leaves the earlier behind."""

    async def write(self, first: Write[R], /, *also: Write[Any]) -> R:
        answer = await super().write(first)
        for operation in also:
            await super().write(operation)
        return answer


class Forgetful(ReferenceStorage):
    """Drops what was to be written soon."""

    def write_soon(self, operation: Write[Any], /) -> None:
        pass


class Doubling(ReferenceStorage):
    """Does not know idempotency keys."""

    async def write(self, first: Write[R], /, *also: Write[Any]) -> R:
        if isinstance(first, Append):
            keyless = tuple(structs.replace(entry, idempotency_key=None) for entry in first.entries)
            first = structs.replace(first, entries=keyless)  # type: ignore[assignment]
        return await super().write(first, *also)


class Blurred(ReferenceIndex):
    """Shows everyone everything in the tenant."""

    async def search(self, search: Search) -> Candidates:
        return await super().search(replace(search, everyone=True))


class Stuck(ReferenceIndex):
    """Never lets anything go."""

    async def apply(self, changes: Sequence[Document | Embedded | Gone], upto: int) -> None:
        await super().apply([change for change in changes if not isinstance(change, Gone)], upto)


class Stale(ReferenceWindows):
    """Holds windows, and does not follow appends."""

    async def extend(self, append: Append, receipts: Receipts, rule: WindowRule) -> None:
        pass


class Overfull(ReferenceWindows):
    """Takes whatever it is given, as late as it may come."""

    async def put(self, window: HeldWindow, rule: WindowRule) -> None:
        self._passed_by.clear()
        await super().put(window, rule)


class Amnesiac(ReferenceSpool):
    """Gives a dead letter up when its call is let go of."""

    async def bury(self, letter: DeadLetter) -> None:
        await self.remove([letter.call.id])


class BrokenPlace(ReferencePlace):
    """A reference place with one part that does not keep its promises."""

    def __init__(
        self,
        storage: type[ReferenceStorage] = ReferenceStorage,
        index: type[ReferenceIndex] = ReferenceIndex,
        windows: type[ReferenceWindows] = ReferenceWindows,
        spool: type[ReferenceSpool] = ReferenceSpool,
    ) -> None:
        super().__init__()
        self.storage, self.index, self.windows, self.spool = storage, index, windows, spool

    async def open_storage(self) -> ReferenceStorage:
        return self.storage(self._committed)

    async def open_index(self) -> ReferenceIndex:
        return self.index()

    async def open_windows(self) -> ReferenceWindows:
        return self.windows(10)

    async def open_spool(self) -> ReferenceSpool:
        return self.spool(self._spooled)


class StorageOnly:
    def __init__(self) -> None:
        self._place = ReferencePlace()

    async def open_storage(self) -> ReferenceStorage:
        return await self._place.open_storage()


@pytest.mark.parametrize(
    ("place", "broken"),
    [
        (BrokenPlace(storage=Halved), "an_operation_that_fails_undoes_the_whole_write"),
        (BrokenPlace(storage=Forgetful), "closing_finishes_what_was_to_be_written_soon"),
        (BrokenPlace(storage=Doubling), "a_duplicate_is_answered_with_the_first_receipt"),
        (BrokenPlace(index=Blurred), "a_scope_finds_its_own_and_the_shared_and_nobody_elses"),
        (BrokenPlace(index=Stuck), "what_is_gone_is_not_found"),
        (BrokenPlace(windows=Stale), "an_append_is_followed"),
        (BrokenPlace(windows=Overfull), "a_window_read_before_an_append_is_not_held_after_it"),
        (BrokenPlace(spool=Amnesiac), "a_buried_call_is_a_dead_letter_and_waits_no_longer"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_promise_is_found_out(place: AnyPlace, broken: str, drive: Drive) -> None:
    report: Report = drive(run(place))
    assert not report.passed
    failures = {result.check.name: result.failure for result in report.failures}
    assert "expect." in (failures[broken] or "")
    assert broken.replace("_", " ") in str(report)


def test_the_report_of_a_sound_place_says_so(drive: Drive) -> None:
    report = drive(run(ReferencePlace()))
    assert report.passed
    assert str(report).endswith(f"{len(report.results)} of {len(report.results)} promises kept")


def test_the_report_names_the_ports_that_a_place_does_not_offer(drive: Drive) -> None:
    report = drive(run(StorageOnly()))
    assert report.passed
    assert report.not_offered == ("backups", "index", "spool", "windows")


def test_a_run_can_be_narrowed_to_a_port(drive: Drive) -> None:
    report = drive(run(ReferencePlace(), port="jobs"))
    assert {result.check.port for result in report.results} == {"jobs"}
