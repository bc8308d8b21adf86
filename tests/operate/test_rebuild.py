"""Rebuilding: the old view serves meanwhile, what was interrupted goes on, and the new view equals the old one."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from rememberd.backends.folder.index import FolderIndex
from rememberd.errors import Conflict, InvalidRequest
from rememberd.flow import index as flow_index
from rememberd.model import Query
from tests.cli.processes import environment, run
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from rememberd.model import Progress

ROOT = Path(__file__).parents[2]
WORDS = ["红色", "雨伞", "laptop", "电脑", "过敏", "foundation", "轻薄", "budget"]


def texts(number: int) -> list[str]:
    chosen = random.Random(5)
    return [" ".join(chosen.choices(WORDS, k=8)) + f" {i}" for i in range(number)]


def fill(store: Store, messages: int = 600) -> None:
    said = texts(messages)
    for begin in range(0, messages, 200):
        user = f"user-{begin % 3}"
        store.run(store.memory.of(user=user, thread=f"t-{begin}").ingest(said[begin : begin + 200]))
    item = store.run(store.memory.of(user="user-0").add("prefers 轻薄 foundation"))
    store.run(store.memory.of(user="user-0").revise(item.id, text="prefers full foundation"))
    store.run(store.memory.settle())


def found(store: Store) -> list[object]:
    """Everything that some questions find, with its scores."""
    return [
        [(hit.id, hit.score) for hit in store.run(store.memory.of(user=f"user-{user}").query(word, k=50)).raw]
        for user in range(3)
        for word in WORDS[:4]
    ]


async def rebuild(store: Store, *, verify: bool = False) -> list[Progress]:
    return [progress async for progress in store.memory.operate.rebuild(verify=verify)]


def test_a_rebuilt_index_finds_the_same_and_has_the_same_digest(store: Store) -> None:
    fill(store)
    before, digest = found(store), store.run(store.parts.index.digest())
    told = store.run(rebuild(store, verify=True))
    assert told[-1].equal is True
    assert told[-1].done == told[-1].total >= 602
    assert [progress.done for progress in told[:2]] == [0, 500]
    assert (found(store), store.run(store.parts.index.digest())) == (before, digest)


def test_an_index_that_was_deleted_is_rebuilt_as_it_was(folder_store: Store) -> None:
    fill(folder_store)
    before, digest = found(folder_store), folder_store.run(folder_store.parts.index.digest())
    folder_store.run(folder_store.memory.close())
    for file in folder_store.folder.glob("index.db*"):
        file.unlink()
    folder_store.reopen()
    folder_store.run(rebuild(folder_store))
    assert (found(folder_store), folder_store.run(folder_store.parts.index.digest())) == (before, digest)
    assert not list(folder_store.folder.glob("next-*"))


def test_a_difference_is_told_and_is_gone_afterwards(folder_store: Store) -> None:
    fill(folder_store)
    before = found(folder_store)
    folder_store.run(folder_store.memory.close())
    index = apsw.Connection(str(folder_store.folder / "index.db"))
    index.execute("DELETE FROM blocks WHERE number = (SELECT max(number) FROM blocks)")
    index.close()
    folder_store.reopen()
    assert folder_store.run(rebuild(folder_store, verify=True))[-1].equal is False
    assert found(folder_store) == before
    assert folder_store.run(rebuild(folder_store, verify=True))[-1].equal is True


def test_a_damaged_block_is_told_and_a_rebuild_mends_it(folder_store: Store) -> None:
    fill(folder_store)
    before = found(folder_store)
    folder_store.run(folder_store.memory.close())
    index = apsw.Connection(str(folder_store.folder / "index.db"))
    data = bytearray(index.execute("SELECT data FROM blocks WHERE number = 1").get)
    data[99] ^= 1
    index.execute("UPDATE blocks SET data = ? WHERE number = 1", [data])
    index.close()
    folder_store.reopen()
    context = folder_store.run(folder_store.memory.of(user="user-0").query("tea"))
    assert any("damaged" in symptom and "rememberd rebuild" in symptom for symptom in context.degraded)
    folder_store.run(rebuild(folder_store))
    assert found(folder_store) == before


def test_somebody_who_looks_into_the_file_does_no_harm(folder_store: Store) -> None:
    fill(folder_store)
    before = found(folder_store)
    looking = apsw.Connection(str(folder_store.folder / "index.db"))
    assert looking.execute("SELECT sum(size) FROM blocks").get >= 601
    assert folder_store.run(rebuild(folder_store, verify=True))[-1].equal is True
    assert found(folder_store) == before
    looking.close()
    folder_store.reopen()
    assert found(folder_store) == before


def test_the_old_index_serves_and_writes_are_found_while_it_is_rebuilt(store: Store) -> None:
    fill(store)
    lin = store.memory.of(user="lin", thread="t")

    async def ask_meanwhile() -> tuple[int, set[int]]:
        tails, written = set(), 0
        steps = store.memory.operate.rebuild()
        async for _ in steps:
            written += 1
            await lin.ingest(f"zebra number {written}")
            recalled = await store.parts.recall(
                lin.scope, Query(text="zebra", k=50), store.clock(), everyone=False, exclude=frozenset()
            )
            assert len(recalled.hits) == written
            tails.add(recalled.unapplied)
        return written, tails

    written, tails = store.run(ask_meanwhile())
    assert written >= 3
    assert max(tails) <= written, "a query had to read what the old index holds from the feed"
    store.run(store.memory.settle())
    assert len(store.run(lin.query("zebra", k=50)).raw) == written


def test_progress_is_told_by_stats_while_it_lasts(store: Store) -> None:
    fill(store)

    async def look() -> list[bool]:
        seen = []
        async for progress in store.memory.operate.rebuild():
            told = (await store.memory.operate.stats()).under_way
            seen.append(told.get("rebuild index") == progress)
        return seen

    assert all(store.run(look()))
    assert store.run(store.memory.operate.stats()).under_way == {}


def test_a_rebuild_that_was_given_up_goes_on_where_it_was(folder_store: Store) -> None:
    fill(folder_store, 2000)

    async def give_up() -> int:
        async with aclosing(folder_store.memory.operate.rebuild()) as steps:  # type: ignore[type-var]
            async for progress in steps:
                if progress.done >= 1000:
                    return progress.done
        raise AssertionError

    reached = folder_store.run(give_up())
    folder_store.reopen()
    told = folder_store.run(rebuild(folder_store, verify=True))
    assert told[0].done == reached
    assert told[-1].equal is True


def test_a_rebuild_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    store = Store("folder", tmp_path / "memory", plain_settings())
    fill(store, 2000)
    store.close()
    assert run(tmp_path, "rebuild", REMEMBERD_CRASH="rebuild.middle:3").code < 0
    assert (tmp_path / "memory" / "next-index.db").exists()
    ended = run(tmp_path, "rebuild", "--verify", REMEMBERD_CRASH="rebuild.middle:3")  # two more steps were left
    assert (ended.code, ended.out) == (0, "The index is rebuilt. It is equal to the old one.\n"), ended.err


def test_the_tool_of_the_same_purpose_takes_a_settings_file(folder_store: Store) -> None:
    fill(folder_store)
    folder_store.run(folder_store.memory.close())
    config = folder_store.folder.parent / "memory.yaml"
    config.write_text(f"data:\n  folder: {folder_store.folder}\n", encoding="utf-8")
    command = [
        sys.executable,
        str(ROOT / "tools" / "memory_reindex.py"),
        "reindex",
        "--config",
        str(config),
        "--verify",
    ]
    ended = subprocess.run(command, env=environment(), capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, b"The index is rebuilt. It is equal to the old one.\n"), ended.stderr
    wrong = subprocess.run(command[:2], env=environment(), capture_output=True, check=False, timeout=60)
    assert (wrong.returncode, wrong.stderr[:6]) == (1, b"usage:")


def test_there_is_one_rebuild_at_a_time(store: Store) -> None:
    fill(store)

    async def both() -> tuple[object, ...]:
        return await asyncio.gather(rebuild(store), rebuild(store), return_exceptions=True)

    assert [type(one) for one in store.run(both()) if isinstance(one, Exception)] == [Conflict]


def test_an_index_of_another_store_is_replaced(folder_store: Store) -> None:
    fill(folder_store)
    before = found(folder_store)
    folder_store.run(folder_store.parts.index.apply([], 1_000_000))
    folder_store.run(rebuild(folder_store))
    assert found(folder_store) == before


def test_writes_that_never_stop_make_the_comparison_impossible_and_not_the_rebuild(
    folder_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rememberd.operate.rebuild._PATIENCE", 0.5)
    fill(folder_store)
    digest = FolderIndex.digest

    async def write_and_tell(index: FolderIndex) -> str:
        await folder_store.memory.of(user="lin", thread="t").ingest("again and again")
        return await digest(index)

    with monkeypatch.context() as patched:
        patched.setattr(FolderIndex, "digest", write_and_tell)
        assert folder_store.run(rebuild(folder_store, verify=True))[-1].equal is None
    folder_store.run(folder_store.memory.settle())
    assert folder_store.run(rebuild(folder_store, verify=True))[-1].equal is True


def test_windows_are_not_compared(store: Store) -> None:
    async def verify() -> None:
        async for _ in store.memory.operate.rebuild("window", verify=True):
            pass

    with pytest.raises(InvalidRequest, match="/verify"):
        store.run(verify())


def test_a_rebuild_applies_every_batch_to_the_last(folder_store: Store) -> None:
    """One change more than a batch: the last batch is the one that is easily forgotten."""
    fill(folder_store, flow_index.BATCH)
    assert folder_store.run(folder_store.parts.storage.feed.head()) == flow_index.BATCH + 2
    folder_store.run(rebuild(folder_store))
    assert folder_store.run(folder_store.parts.index.watermark()) == flow_index.BATCH + 2
    assert folder_store.run(folder_store.memory.of(user="user-0").query("prefers full")).raw[0].kind == "fact"
