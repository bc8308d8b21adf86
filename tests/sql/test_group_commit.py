"""Group commit: many calls in one transaction, each as if it were alone."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import apsw
import pytest

from rememberd.errors import Conflict, StorageUnavailable, ThreadTaken
from rememberd.model import Scope
from rememberd.ports.records import Append, EndTurn, Entry
from tests.conftest import KINDS, Store, plain_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_a_refused_call_does_not_touch_its_neighbours(store: Store) -> None:
    store.run(store.memory.ingest(Scope(user="lin", thread="taken"), "mine"))

    async def together() -> list[object]:
        calls = [
            store.memory.ingest(Scope(user="mei", thread="taken" if i % 5 == 0 else f"t-{i}"), f"message {i}")
            for i in range(50)
        ]
        return await asyncio.gather(*calls, return_exceptions=True)

    ended = store.run(together())
    assert [i for i, one in enumerate(ended) if isinstance(one, ThreadTaken)] == list(range(0, 50, 5))
    assert len(store.run(store.memory.history(Scope(user="mei"), limit=100)).items) == 40


def test_a_call_whose_later_part_fails_leaves_nothing_behind(store: Store) -> None:
    """The reply is written before the turn turns out not to exist; neighbours in the same group are kept."""

    async def together() -> list[object]:
        now = store.clock()
        stray = Append(
            tenant="default", thread="t", user="lin", agent=None, recorded_at=now, session_ttl=timedelta(hours=1),
            entries=(Entry(id="stray", role="user", content="stray", at=now),),
        )  # fmt: skip
        bad = store.parts.storage.write(stray, EndTurn(id="none", tenant="default", outcome="ok", at=now))
        good = [store.memory.ingest(Scope(user="lin", thread=f"t-{i}"), f"message {i}") for i in range(10)]
        return await asyncio.gather(*good[:5], bad, *good[5:], return_exceptions=True)

    ended = store.run(together())
    assert sum(isinstance(one, Exception) for one in ended) == 1
    messages = store.run(store.memory.history(Scope(user="lin"), limit=100)).items
    assert sorted(message.content for message in messages) == sorted(f"message {i}" for i in range(10))
    assert store.run(store.memory.ingest(Scope(user="mei", thread="t"), "mine")).receipts[0].seq == 1


@pytest.mark.parametrize("store", KINDS[1:], indirect=True)
def test_a_call_that_is_refused_when_its_group_is_written_fails_alone(store: Store) -> None:
    """Rows of a group are written together; which of them the storage refuses shows only then."""
    now = store.clock()

    def said(number: int, thread: str) -> Append:
        return Append(
            tenant="default", thread=thread, user="lin", agent=None, recorded_at=now, session_ttl=timedelta(hours=1),
            entries=(Entry(id=f"id-{number}", role="user", content=f"message {number}", at=now),),
        )  # fmt: skip

    async def together() -> list[object]:
        first = [store.parts.storage.write(said(number, f"t-{number % 3}")) for number in range(9)]
        again = [store.parts.storage.write(said(number, "again")) for number in (4, 7)]
        return await asyncio.gather(*first[:5], again[0], *first[5:], again[1], return_exceptions=True)

    ended = store.run(together())
    assert [i for i, one in enumerate(ended) if isinstance(one, Exception)] == [5, 10]
    assert all(isinstance(ended[i], Conflict) for i in (5, 10))
    messages = store.run(store.memory.history(Scope(user="lin"), limit=100)).items
    assert sorted((message.thread, message.seq) for message in messages) == [
        (f"t-{thread}", seq) for thread in range(3) for seq in (1, 2, 3)
    ]


def test_a_locked_database_is_unavailable_and_comes_back(tmp_path: Path) -> None:
    store = Store("folder", tmp_path, plain_settings(database__lock_timeout=0.2))
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("before"))
    other = apsw.Connection(str(tmp_path / "memory.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageUnavailable):
        store.run(lin.add("while locked"))
    assert [message.content for message in store.run(lin.history()).items] == ["before"]
    other.execute("ROLLBACK")
    store.run(lin.ingest("after"))
    assert [message.seq for message in store.run(lin.history()).items] == [2, 1]
    other.close()
    store.close()


def test_a_database_that_was_removed_under_us_takes_no_more_writes(tmp_path: Path) -> None:
    store = Store("folder", tmp_path / "memory", plain_settings())
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("before"))
    (tmp_path / "memory").rename(tmp_path / "elsewhere")
    with pytest.raises(StorageUnavailable, match="moved or removed"):
        store.run(lin.ingest("into nowhere"))
    (tmp_path / "elsewhere").rename(tmp_path / "memory")
    assert store.run(lin.ingest("after")).receipts[0].seq == 2
    store.close()


def test_a_closed_store_says_so(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(store.memory.close())
    with pytest.raises(StorageUnavailable):
        store.run(lin.ingest("too late"))
    assert store.run(lin.query("anything")).degraded
    with pytest.raises(StorageUnavailable):
        store.run(lin.history(search="anything"))
