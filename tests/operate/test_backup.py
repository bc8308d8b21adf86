"""Backups: made while it is being written to, whole or not at all, and refused when a single bit is not as it was."""

from __future__ import annotations

import asyncio
import hashlib
import random
import resource
import subprocess
import sys
import zipfile
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from rememberd import blocking, wiring
from rememberd.backends.folder.restore import Restored
from rememberd.errors import Conflict, DamagedStore, FolderInUse, InvalidRequest, NotFound, Unsupported
from rememberd.memory import Memory
from rememberd.model import Progress
from tests.cli.processes import Server, environment, run
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = [f"message {i}: 我想买一台笔记本电脑, {i * 7919 % 1000} euros" for i in range(40)]


async def _back_up(memory: Memory, file: Path) -> list[Progress]:
    return [progress async for progress in memory.operate.backup(file)]


async def _restore(file: Path, folder: Path, *, replace: bool = False) -> Path | None:
    """Where the old folder went, if there was one."""
    told = [step async for step in wiring.restore_folder(file, folder, replace=replace)]
    assert isinstance(told[-1], Restored)
    assert all(isinstance(step, Progress) for step in told[:-1])
    return told[-1].replaced


def _contents(folder: Path) -> list[str]:
    store = Store("folder", folder, plain_settings())
    try:
        return [message.content for message in store.run(store.memory.of(user="lin").history(limit=1000)).items][::-1]
    finally:
        store.close()


@pytest.fixture
def archive(folder_store: Store, tmp_path: Path) -> Path:
    """A backup of forty messages."""
    folder_store.run(folder_store.memory.of(user="lin", thread="t").ingest(TEXTS))
    file = tmp_path / "backup.zip"
    folder_store.run(_back_up(folder_store.memory, file))
    return file


def test_what_was_backed_up_is_restored_elsewhere(archive: Path, tmp_path: Path) -> None:
    assert asyncio.run(_restore(archive, tmp_path / "elsewhere")) is None
    assert _contents(tmp_path / "elsewhere") == TEXTS


def test_a_restored_folder_finds_by_words_and_knows_its_idempotency_keys(folder_store: Store, tmp_path: Path) -> None:
    lin = folder_store.memory.of(user="lin", thread="t")
    first = folder_store.run(lin.ingest("红色的雨伞", idempotency_key="k"))
    folder_store.run(_back_up(folder_store.memory, tmp_path / "b.zip"))
    asyncio.run(_restore(tmp_path / "b.zip", tmp_path / "elsewhere"))
    store = Store("folder", tmp_path / "elsewhere", plain_settings())
    there = store.memory.of(user="lin", thread="t")
    again = store.run(there.ingest("红色的雨伞", idempotency_key="k"))
    assert (again.receipts[0].id, again.receipts[0].status) == (first.receipts[0].id, "duplicate")
    assert [hit.text for hit in store.run(there.query("雨伞")).raw] == ["红色的雨伞"]
    store.close()


def test_progress_ends_where_it_said_it_would(folder_store: Store, tmp_path: Path) -> None:
    folder_store.run(folder_store.memory.of(user="lin", thread="t").ingest(TEXTS))
    told = folder_store.run(_back_up(folder_store.memory, tmp_path / "b.zip"))
    assert told[-1].done == told[-1].total > 0
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)


def test_any_unzip_opens_it_and_the_manifest_tells_the_truth(archive: Path) -> None:
    whole = archive.read_bytes()
    assert hashlib.sha256(whole[:-64]).hexdigest().encode() == whole[-64:]
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        assert set(opened.namelist()) == {"memory.db", "manifest.json"}
        assert hashlib.sha256(opened.read("memory.db")).hexdigest() in opened.read("manifest.json").decode()
    assert archive.stat().st_mode & 0o077 == 0


def test_every_single_flipped_bit_is_detected(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    chosen = random.Random(7)
    ends = [0, 7, 8 * len(whole) - 1, 8 * len(whole) - 8 * 64, 8 * len(whole) - 8 * 64 - 1]  # header, seal, its border
    bits = ends + [chosen.randrange(8 * len(whole)) for _ in range(200 - len(ends))]
    damaged = tmp_path / "damaged.zip"
    detected = 0
    for bit in bits:
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(flipped)
        try:
            asyncio.run(_restore(damaged, tmp_path / "elsewhere"))
        except DamagedStore:
            detected += 1
    assert detected == len(bits) == 200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.zip", "damaged.zip", "memory"]


@pytest.mark.parametrize("change", ["cut", "longer", "empty", "not a zip"])
def test_an_archive_of_another_length_is_refused(archive: Path, tmp_path: Path, change: str) -> None:
    whole = archive.read_bytes()
    text = b"something else"
    sealed = text + hashlib.sha256(text).hexdigest().encode()
    archive.write_bytes({"cut": whole[:-1], "longer": whole + b"\0", "empty": b"", "not a zip": sealed}[change])
    with pytest.raises(DamagedStore):
        asyncio.run(_restore(archive, tmp_path / "elsewhere"))
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_not_empty_is_replaced_only_when_told_and_kept_beside(archive: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    store = Store("folder", elsewhere, plain_settings())
    store.run(store.memory.of(user="lin", thread="t").ingest("what was there"))
    with pytest.raises(FolderInUse):
        asyncio.run(_restore(archive, elsewhere, replace=True))
    store.close()
    with pytest.raises(Conflict, match="--force"):
        asyncio.run(_restore(archive, elsewhere))
    assert _contents(elsewhere) == ["what was there"]
    replaced = asyncio.run(_restore(archive, elsewhere, replace=True))
    assert replaced is not None
    assert _contents(elsewhere) == TEXTS
    assert _contents(replaced) == ["what was there"]


def test_a_folder_whose_restore_was_cut_off_is_not_mistaken_for_an_empty_one(archive: Path, tmp_path: Path) -> None:
    """Cut off between taking the old folder away and putting the new one."""
    (tmp_path / "elsewhere.restoring").mkdir()
    with pytest.raises(DamagedStore, match="restore it again"):
        asyncio.run(wiring.open_folder(tmp_path / "elsewhere", plain_settings()))
    asyncio.run(_restore(archive, tmp_path / "elsewhere"))
    assert _contents(tmp_path / "elsewhere") == TEXTS


def test_a_restore_that_is_given_up_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    async def give_up() -> None:
        async with aclosing(wiring.restore_folder(archive, tmp_path / "elsewhere")) as steps:
            async for step in steps:
                assert isinstance(step, Progress)
                if 2 * step.done > step.total:
                    return

    asyncio.run(give_up())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.zip", "memory"]


def test_a_backup_is_never_written_over_another_file(archive: Path, folder_store: Store, tmp_path: Path) -> None:
    before = archive.read_bytes()
    with pytest.raises(Conflict, match="there already"):
        folder_store.run(_back_up(folder_store.memory, archive))
    assert archive.read_bytes() == before
    with pytest.raises(InvalidRequest, match="no folder"):
        folder_store.run(_back_up(folder_store.memory, tmp_path / "nowhere" / "b.zip"))
    with pytest.raises(NotFound):
        asyncio.run(_restore(tmp_path / "nowhere.zip", tmp_path / "elsewhere"))


def test_two_backups_to_one_file_do_not_mix(folder_store: Store, tmp_path: Path) -> None:
    async def both() -> tuple[object, ...]:
        file = tmp_path / "b.zip"
        return await asyncio.gather(
            _back_up(folder_store.memory, file), _back_up(folder_store.memory, file), return_exceptions=True
        )

    ended = folder_store.run(both())
    assert [type(one) for one in ended if isinstance(one, Exception)] == [Conflict]
    asyncio.run(_restore(tmp_path / "b.zip", tmp_path / "elsewhere"))


def test_the_spool_is_part_of_the_backup(folder_store: Store, tmp_path: Path) -> None:
    segment = folder_store.folder / "spool" / "dead" / "0001.segment"
    segment.parent.mkdir(parents=True)
    segment.write_bytes(b"waiting for the storage")
    folder_store.run(_back_up(folder_store.memory, tmp_path / "b.zip"))
    asyncio.run(_restore(tmp_path / "b.zip", tmp_path / "elsewhere"))
    assert (tmp_path / "elsewhere" / "spool" / "dead" / "0001.segment").read_bytes() == b"waiting for the storage"


def test_nothing_is_left_in_the_folder_even_by_a_backup_that_was_killed(archive: Path, folder_store: Store) -> None:
    assert list(folder_store.folder.glob(".copy-for-backup-*")) == []
    (folder_store.folder / ".copy-for-backup-killed").mkdir()
    (folder_store.folder / ".copy-for-backup-killed" / "memory.db").touch()
    folder_store.reopen()
    assert list(folder_store.folder.glob(".copy-for-backup-*")) == []


def test_a_store_that_is_not_a_folder_names_what_to_use_instead(store: Store, tmp_path: Path) -> None:
    if store.kind == "folder":
        assert store.run(_back_up(store.memory, tmp_path / "b.zip"))
        return
    with pytest.raises(Unsupported, match="pg_dump" if store.kind == "postgresql" else "folder"):
        store.run(_back_up(store.memory, tmp_path / "b.zip"))
    assert list(tmp_path.glob("b.zip*")) == []


def test_backups_without_async(tmp_path: Path) -> None:
    with blocking.connect(tmp_path / "memory", settings=plain_settings()) as memory:
        memory.of(user="lin", thread="t").ingest(TEXTS)
        assert list(memory.operate.backup(tmp_path / "b.zip"))[-1].done > 0
    asyncio.run(_restore(tmp_path / "b.zip", tmp_path / "elsewhere"))
    assert _contents(tmp_path / "elsewhere") == TEXTS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("served"), REMEMBERD_LOG_LEVEL="error") as server:
        yield server


def test_everything_acknowledged_before_a_backup_under_load_is_in_it(server: Server, tmp_path: Path) -> None:
    """Eight writers; the backup is made through the running server, as the command does it."""

    async def load() -> tuple[set[str], set[str]]:
        async with Memory(wiring.open_remote(server.url)) as memory:
            acknowledged: set[str] = set()
            done = asyncio.Event()

            async def write(writer: int) -> None:
                thread = memory.of(user="lin", thread=f"load-{writer}")
                while not done.is_set():
                    receipts = await thread.ingest([f"{writer} said this"] * 5)
                    acknowledged.update(receipt.id for receipt in receipts.receipts)

            writers = [asyncio.create_task(write(writer)) for writer in range(8)]
            while len(acknowledged) < 500:
                await asyncio.sleep(0.01)
            before = set(acknowledged)
            ended = await asyncio.to_thread(run, server.folder, "backup", str(tmp_path / "load.zip"), "--json")
            assert ended.document["size"] == (tmp_path / "load.zip").stat().st_size
            during = set(acknowledged)
            done.set()
            await asyncio.gather(*writers)
            return before, during

    before, during = asyncio.run(load())
    assert len(during) > len(before), "nobody wrote while the backup was made"
    asyncio.run(_restore(tmp_path / "load.zip", tmp_path / "elsewhere"))
    assert before <= _ids(tmp_path / "elsewhere")


def _ids(folder: Path) -> set[str]:
    async def read() -> set[str]:
        found: set[str] = set()
        async with Memory((await wiring.open_folder(folder, plain_settings())).engine) as memory:
            after = None
            while True:
                page = await memory.of(user="lin").history(limit=1000, after=after)
                found.update(message.id for message in page.items)
                after = page.next
                if after is None:
                    return found

    return asyncio.run(read())


def _back_up_without_room(folder: Path, limit: int) -> None:
    """The operating system does not let a file of this process grow beyond the limit, as on a full disk."""
    ended = subprocess.run(
        [sys.executable, "-m", "rememberd", "backup", "b.zip", "--json"],
        cwd=folder,
        env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (6, b""), ended.stderr
    assert b'"storage_full"' in ended.stderr
    assert [path.name for path in folder.iterdir()] == ["memory"]
    assert not list((folder / "memory").glob(".copy-for-backup-*"))


@pytest.mark.parametrize("full", ["the folder's disk", "the archive's disk"])
def test_a_full_disk_is_said_so_leaves_nothing_and_is_no_obstacle_later(tmp_path: Path, full: str) -> None:
    store = Store("folder", tmp_path / "memory", plain_settings())
    store.run(store.memory.of(user="lin", thread="t").ingest(TEXTS))
    store.close()
    if full == "the folder's disk":
        _back_up_without_room(tmp_path, limit=60_000)  # the database is larger
    else:
        with Server(tmp_path):  # it copies the database; the command writes the archive
            _back_up_without_room(tmp_path, limit=2_000)
    assert run(tmp_path, "backup", "b.zip").code == 0
    asyncio.run(_restore(tmp_path / "b.zip", tmp_path / "elsewhere"))
    assert _contents(tmp_path / "elsewhere") == TEXTS


def test_a_backup_that_was_killed_can_be_made_again(tmp_path: Path) -> None:
    store = Store("folder", tmp_path / "memory", plain_settings())
    store.run(store.memory.of(user="lin", thread="t").ingest(TEXTS))
    store.close()
    killed = run(tmp_path, "backup", "b.zip", REMEMBERD_CRASH="backup.middle")
    assert killed.code < 0
    assert not (tmp_path / "b.zip").exists()
    assert run(tmp_path, "backup", "b.zip").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "memory"]
    assert _contents(tmp_path / "memory") == TEXTS
    assert run(tmp_path, "restore", "b.zip", "--data", "elsewhere").out == "elsewhere is restored.\n"
    assert _contents(tmp_path / "elsewhere") == TEXTS
