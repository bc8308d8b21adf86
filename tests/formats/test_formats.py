"""Opening a folder of an earlier format brings it up to date, after a backup, and all of it is still there."""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import TYPE_CHECKING

import apsw
import pytest

from rememberd import wiring
from rememberd.backends.sql.copy import format_of
from rememberd.backends.sql.migrate import migrations
from rememberd.errors import DamagedStore
from rememberd.model import Scope
from tests.cli.processes import run
from tests.conftest import Store, plain_settings

from .make import SAID, kept

if TYPE_CHECKING:
    from pathlib import Path

LIN = Scope("acme", "lin", None, "t-1")
NEWEST = len(migrations())


async def _restore(file: Path, folder: Path) -> None:
    async for _ in wiring.restore_folder(file, folder):
        pass


@pytest.fixture(params=kept(), ids=lambda file: file.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder as an earlier rememberd left it."""
    asyncio.run(_restore(request.param, tmp_path / "memory"))
    return tmp_path / "memory"


def _check(folder: Path) -> None:
    store = Store("folder", folder, plain_settings(models__embedder="test"))
    memory = store.memory
    assert [message.content for message in store.run(memory.history(LIN, order="oldest")).items] == list(SAID)
    (item,) = store.run(memory.list(LIN)).items
    assert [version.text for version in store.run(memory.versions(LIN, item.id))] == [
        "prefers unscented products",
        "prefers unscented, vegan products",
    ]
    again = store.run(memory.ingest(LIN, [SAID[0], {"role": "agent", "content": SAID[1]}], idempotency_key="k"))
    assert [receipt.status for receipt in again.receipts] == ["duplicate", "duplicate"]
    assert store.run(memory.query(LIN, "过敏")).raw[0].text == SAID[0]
    assert store.run(memory.history(Scope("globex", "mei"))).items[0].content == "hello from elsewhere"
    assert [job.id for job in store.run(memory.operate.jobs())] == ["job-1"]
    assert store.run(memory.settle()).settled
    store.close()


def _backups(folder: Path) -> list[Path]:
    return sorted((folder / "backups").glob("format-*.zip"))


def test_the_first_format_is_kept_and_none_of_the_future() -> None:
    formats = [int(file.stem.removeprefix("format-")) for file in kept()]
    assert formats[0] == 1 < NEWEST
    assert max(formats) < NEWEST


def test_nothing_is_lost_on_the_way_to_the_newest_format(old: Path) -> None:
    _check(old)
    assert format_of(old / "memory.db") == NEWEST


def test_the_folder_is_backed_up_before_it_is_changed(old: Path, tmp_path: Path) -> None:
    before = format_of(old / "memory.db")
    _check(old)
    (backup,) = _backups(old)
    assert backup.name.startswith(f"format-{before}-2026")
    asyncio.run(_restore(backup, tmp_path / "before"))
    assert format_of(tmp_path / "before" / "memory.db") == before
    _check(old)
    assert _backups(old) == [backup]
    _check(tmp_path / "before")


@pytest.fixture
def first(tmp_path: Path) -> Path:
    asyncio.run(_restore(kept()[0], tmp_path / "memory"))
    return tmp_path / "memory"


def test_a_migration_that_was_killed_leaves_the_old_format_and_is_done_again(first: Path) -> None:
    for _ in range(3):
        assert run(first.parent, "stats", REMEMBERD_CRASH="migration.middle").code < 0
        assert format_of(first / "memory.db") == 1
    assert run(first.parent, "stats").code == 0
    assert format_of(first / "memory.db") == NEWEST
    assert _backups(first)
    shutil.rmtree(first / "backups")
    _check(first)


def test_where_no_backup_can_be_made_nothing_is_migrated(first: Path) -> None:
    (first / "backups").symlink_to("/dev/full/nowhere")  # no folder can be made there
    ended = run(first.parent, "stats", "--json")
    assert ended.code == 6
    assert ended.problem["code"] == "storage_unavailable"
    assert format_of(first / "memory.db") == 1
    os.unlink(first / "backups")
    _check(first)


def test_a_folder_of_a_newer_format_is_refused_and_left_alone(first: Path) -> None:
    _check(first)
    with apsw.Connection(str(first / "memory.db")) as connection:
        connection.execute("INSERT INTO migrations VALUES (999, 'future', 'x')")
    shutil.rmtree(first / "backups")
    with pytest.raises(DamagedStore, match=r"newer rememberd \(migration 999\); update it"):
        asyncio.run(wiring.open_folder(first, plain_settings()))
    assert not (first / "backups").exists()
