"""The spool's files: cut, damaged, full, or caught by a power cut, they give back every whole call."""

from __future__ import annotations

import asyncio
import errno
import random
import resource
from typing import TYPE_CHECKING, Any

import pytest

from rememberd.backends.folder.files import Files
from rememberd.backends.folder.spool import FolderSpool
from rememberd.conformance.samples import append, spooled
from rememberd.conformance.trial import moment
from rememberd.errors import StorageFull, StorageUnavailable
from rememberd.ports.spool import Attempt, DeadLetter, SpooledCall

from .power import Disk, NeverSynced, RecordingFiles

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

TENANT = "acme"


async def _open(folder: Path, **options: Any) -> FolderSpool:
    given = {"file_bytes": 4000, "max_bytes": 2**24, "memory_limit": 3, **options}
    return await FolderSpool.open(folder, **given)


def _call(text: str) -> SpooledCall:
    return spooled(append(TENANT, text))


async def _texts(spool: FolderSpool) -> list[str]:
    return [call.append.entries[0].content async for call in spool.waiting() if call.append]


async def _filled(folder: Path, texts: list[str], **options: Any) -> None:
    spool = await _open(folder, **options)
    for text in texts:
        await spool.add(_call(text))
    await spool.close()


async def _read(folder: Path) -> tuple[list[str], int]:
    spool = await _open(folder)
    found = await _texts(spool)
    damaged = spool.usage().damaged
    await spool.close()
    return found, damaged


def test_a_file_cut_at_every_byte_of_its_last_call_gives_back_the_others(tmp_path: Path) -> None:
    asyncio.run(_filled(tmp_path / "whole", ["一", "two", "三 three"]))
    [file] = (tmp_path / "whole").iterdir()
    data = file.read_bytes()
    last = data.rindex(b"\xabrmd")
    for length in range(last, len(data)):
        folder = tmp_path / f"cut-{length}"
        folder.mkdir()
        (folder / file.name).write_bytes(data[:length])
        assert asyncio.run(_read(folder)) == (["一", "two"], 0), length
        assert (folder / file.name).stat().st_size == last
        if length % 50 == 0:
            asyncio.run(_filled(folder, ["four"]))
            assert asyncio.run(_read(folder)) == (["一", "two", "four"], 0)


def test_damage_in_the_middle_is_kept_aside_with_an_alarm_and_the_rest_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(_filled(tmp_path / "whole", ["one", "two", "three"]))
    [file] = (tmp_path / "whole").iterdir()
    data = file.read_bytes()
    second, third = data.index(b"\xabrmd", 1), data.rindex(b"\xabrmd")
    for i, place in enumerate(range(second, third, 7)):
        folder = tmp_path / f"damaged-{i}"
        folder.mkdir()
        (folder / file.name).write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        for _ in range(2):
            assert asyncio.run(_read(folder)) == (["one", "three"], 1), place
        [aside] = folder.glob("*.damaged")
        assert len(aside.read_bytes()) == third - second
    assert any(record.message == "spool_damaged" for record in caplog.records)


def test_a_damaged_last_call_is_no_torn_one_and_is_kept_aside(tmp_path: Path) -> None:
    asyncio.run(_filled(tmp_path, ["one", "two"]))
    [file] = tmp_path.iterdir()
    data = file.read_bytes()
    file.write_bytes(data[:-5] + b"\0" + data[-4:])
    assert asyncio.run(_read(tmp_path)) == (["one"], 1)


def test_files_are_rotated_by_size_and_removed_when_nothing_in_them_waits(tmp_path: Path) -> None:
    async def rotate() -> None:
        spool = await _open(tmp_path)
        calls = [_call(f"{i} " + "x" * 500) for i in range(60)]
        for call in calls:
            await spool.add(call)
        assert spool.usage().files >= 3
        await spool.remove([call.id for call in calls[:-1]])
        assert spool.usage().files <= 2
        await spool.remove([calls[-1].id])
        assert list(tmp_path.iterdir()) == []
        assert spool.usage().size == 0
        await spool.close()

    asyncio.run(rotate())


def test_the_memory_limit_bounds_what_is_held_and_nothing_else(tmp_path: Path) -> None:
    async def hold() -> None:
        spool = await _open(tmp_path)
        for i in range(50):
            await spool.add(_call(str(i)))
        assert len(spool._held) == 3
        assert await _texts(spool) == [str(i) for i in range(50)]
        await spool.close()

    asyncio.run(hold())


def test_calls_that_come_together_share_one_sync(tmp_path: Path) -> None:
    async def together() -> int:
        files = RecordingFiles()
        spool = await _open(tmp_path / "spool", files=files)
        await asyncio.gather(*(spool.add(_call(str(i))) for i in range(100)))
        await spool.close()
        return sum(event[0] == "sync" for event in files.events)

    assert asyncio.run(together()) <= 3


def test_the_limit_refuses_with_a_cure_and_an_alarm_and_loses_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def fill() -> None:
        spool = await _open(tmp_path, max_bytes=20_000)
        kept: list[str] = []

        async def add(text: str) -> None:
            await spool.add(_call(text))
            kept.append(text)

        with pytest.raises(StorageFull, match=r"failure_queue\.max_bytes"):
            await asyncio.wait_for(_each(add), 30)
        assert 10 < len(kept) < 100
        assert await _texts(spool) == kept
        await spool.remove([call.id async for call in spool.waiting()])
        await spool.add(_call("room again"))
        await spool.close()

    asyncio.run(fill())
    assert {"spool_nearly_full", "spool_full"} <= {record.message for record in caplog.records}


async def _each(add: Callable[[str], Awaitable[None]]) -> None:
    for i in range(1000):
        await add(str(i))


class FailingFiles(Files):
    """Writes half and fails, or syncs not at all, from the n-th time on, until it is mended."""

    def __init__(self, call: str, at: int, error: int) -> None:
        self.call, self.at, self.error, self.seen, self.mended = call, at, error, 0, False

    def _fails(self, call: str) -> bool:
        self.seen += call == self.call
        return call == self.call and self.seen >= self.at and not self.mended

    def append(self, file: int, data: bytes) -> None:
        if self._fails("append"):
            super().append(file, data[: len(data) // 2])
            raise OSError(self.error, "injected")
        super().append(file, data)

    def sync(self, file: int) -> None:
        if self._fails("sync"):
            raise OSError(self.error, "injected")
        super().sync(file)

    def create(self, path: Path) -> int:
        if self._fails("create"):
            raise OSError(self.error, "injected")
        return super().create(path)

    def sync_folder(self, folder: Path) -> None:
        if self._fails("sync_folder"):
            raise OSError(self.error, "injected")
        super().sync_folder(folder)


@pytest.mark.parametrize("call", ["append", "sync", "create", "sync_folder"])
@pytest.mark.parametrize(
    ("error", "raised"), [(errno.ENOSPC, StorageFull), (errno.EIO, StorageUnavailable)], ids=["full", "broken"]
)
def test_a_failing_disk_refuses_whole_calls_and_recovers_by_itself(
    tmp_path: Path, call: str, error: int, raised: type[Exception]
) -> None:
    async def fail(at: int) -> None:
        folder = tmp_path / f"at-{at}"
        folder.mkdir()
        files = FailingFiles(call, at, error)
        spool = await _open(folder, files=files, file_bytes=1500)
        kept = []
        for i in range(12):
            try:
                await spool.add(_call(str(i)))
                kept.append(str(i))
            except raised:
                pass
        files.mended = True
        await spool.add(_call("after"))
        kept.append("after")
        assert await _texts(spool) == kept
        await spool.close()
        assert await _read(folder) == (kept, 0)

    for at in range(1, 5):
        asyncio.run(fail(at))


@pytest.fixture
def small_files() -> Iterator[int]:
    """No file may grow beyond this, as the kernel sees it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = 16_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_the_kernel_lets_grow_no_further_costs_no_call(tmp_path: Path, small_files: int) -> None:
    async def fill() -> None:
        spool = await _open(tmp_path, file_bytes=10 * small_files)
        kept, refused = [], 0
        for i in range(100):
            try:
                await spool.add(_call(f"{i} " + "x" * 300))
                kept.append(i)
            except StorageFull:
                refused += 1
        assert refused
        found = [int(text.split()[0]) for text in await _texts(spool)]
        assert found == kept
        await spool.close()
        assert [int(text.split()[0]) for text in (await _read(tmp_path))[0]] == kept

    asyncio.run(fill())


async def _busy(folder: Path, files: RecordingFiles) -> None:
    """Add, remove, bury, revive and discard, and mark each when it was answered."""
    spool = await _open(folder, files=files, file_bytes=3000)
    chance = random.Random(5)
    waiting: list[SpooledCall] = []
    for i in range(120):
        calls = [_call(f"{i}.{j}") for j in range(chance.randint(1, 3))]
        await asyncio.gather(*(spool.add(call) for call in calls))
        waiting += calls
        for call in calls:
            files.mark("kept", call.id)
        if chance.random() < 0.3 and waiting:
            call = waiting.pop(chance.randrange(len(waiting)))
            files.mark("unsure", call.id)
            last = Attempt(id=call.id, number=1, reason="r", detail="d", at=moment())
            await spool.bury(DeadLetter(call=call, last=last))
            files.mark("dead", call.id)
            if chance.random() < 0.5:
                files.mark("unsure", call.id)
                await spool.discard([call.id])
                files.mark("gone", call.id)
        if chance.random() < 0.2:
            done, waiting = waiting[:5], waiting[5:]
            for call in done:
                files.mark("unsure", call.id)
            await spool.remove([call.id for call in done])
    await spool.close()


async def _lost(folder: Path, disk: Disk) -> set[str]:
    """The calls that were acknowledged and are not there any more, or should be gone and are back."""
    state = {call_id: status for status, call_id in disk.marks}
    spool = await _open(folder)
    waiting = {call.id async for call in spool.waiting()}
    dead = {letter.call.id for letter in await spool.dead_letters()}
    await spool.close()
    lost = {each for each, status in state.items() if status == "kept" and each not in waiting}
    lost |= {each for each, status in state.items() if status == "dead" and each not in dead}
    return lost | {each for each, status in state.items() if status == "gone" and each in waiting | dead}


def _cuts(tmp_path: Path, files: RecordingFiles, number: int) -> int:
    """In how many of so many power cuts something was lost."""
    asyncio.run(_busy(tmp_path / "spool", files))
    chance = random.Random(11)
    losing = 0
    for i in range(number):
        disk = Disk.after(files.events[: chance.randint(1, len(files.events))])
        disk.cut(tmp_path / f"cut-{i}", chance)
        losing += bool(asyncio.run(_lost(tmp_path / f"cut-{i}", disk)))
    return losing


def test_no_power_cut_loses_an_acknowledged_call(tmp_path: Path) -> None:
    assert _cuts(tmp_path, RecordingFiles(), 300) == 0


def test_without_sync_most_power_cuts_lose_calls(tmp_path: Path) -> None:
    assert _cuts(tmp_path, NeverSynced(), 60) > 30
