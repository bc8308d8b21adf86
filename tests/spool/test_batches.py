"""Batches: recorded a batch at a time, in order, once; a flush that fails loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rememberd.errors import InvalidRequest, StorageUnavailable
from rememberd.integrations.mas import BatchMessageProcessor
from rememberd.model import Scope

from .outage import drained, locked, quick_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = quick_store(tmp_path / "memory")
    yield made
    made.close()


def _message(i: int, **fields: Any) -> dict[str, Any]:
    return {"user": "lin", "thread": "t", "role": "user", "content": str(i), **fields}


def _contents(store: Store, scope: Scope) -> list[str]:
    page = store.run(store.memory.history(scope, order="oldest", limit=1000))
    return [message.content for message in page.items]


LIN = Scope(user="lin", thread="t")


def test_a_full_batch_is_recorded_and_close_records_the_rest(store: Store) -> None:
    async def collect() -> None:
        async with BatchMessageProcessor(store.memory) as batch:
            for i in range(250):
                await batch.add_message(_message(i))
                assert len(batch.message_queue) < 100

    store.run(collect())
    assert _contents(store, LIN) == [str(i) for i in range(250)]


def test_messages_go_where_they_say_by_any_name(store: Store) -> None:
    async def collect() -> None:
        async with BatchMessageProcessor(store.memory, batch_size=3) as batch:
            await batch.add_message({"namespace": "acme", "customer_id": "lin", "session_id": "a", "content": "one"})
            await batch.add_message({"tenant": "acme", "user_id": "lin", "conversation_id": "b", "content": "two"})
            await batch.add_message({"tenant_id": "acme", "user": "mei", "thread_id": "c", "content": "three"})

    store.run(collect())
    assert _contents(store, Scope("acme", "lin", None, "a")) == ["one"]
    assert _contents(store, Scope("acme", "lin", None, "b")) == ["two"]
    assert _contents(store, Scope("acme", "mei", None, "c")) == ["three"]


def test_a_message_nobody_could_record_is_refused_at_once_and_keeps_no_other_back(store: Store) -> None:
    async def collect() -> None:
        batch = BatchMessageProcessor(store.memory, batch_size=10)
        await batch.add_message(_message(0))
        for wrong in (_message(1, content=""), _message(1, colour="red"), _message(1, thread="")):
            with pytest.raises(InvalidRequest):
                await batch.add_message(wrong)
        await batch.close()

    store.run(collect())
    assert _contents(store, LIN) == ["0"]


def test_while_the_storage_is_out_batches_wait_in_the_spool(store: Store) -> None:
    async def collect() -> None:
        async with BatchMessageProcessor(store.memory, batch_size=10) as batch:
            for i in range(35):
                await batch.add_message(_message(i))

    with locked(store.folder):
        store.run(collect())
    drained(store)
    assert _contents(store, LIN) == [str(i) for i in range(35)]


def test_a_flush_that_fails_keeps_the_messages_and_the_next_records_them_once(store: Store) -> None:
    batch = BatchMessageProcessor(store.memory, batch_size=5)

    async def collect() -> None:
        for i in range(12):
            await batch.add_message(_message(i))

    spool = store.parts.spool
    with locked(store.folder):
        store.run(spool.close())
        store.run(collect())
        assert len(batch.message_queue) == 12
        with pytest.raises(StorageUnavailable):
            store.run(batch.flush_batch())
    receipts = store.run(batch.flush_batch())
    assert [receipt.seq for receipt in receipts] == list(range(1, 13))
    assert batch.message_queue == []
    assert _contents(store, LIN) == [str(i) for i in range(12)]
