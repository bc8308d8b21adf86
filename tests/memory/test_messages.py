"""Messages: receipts, sequence, history, and being found at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rememberd.errors import IdempotencyConflict, InvalidRequest
from rememberd.model import Scope

if TYPE_CHECKING:
    from tests.conftest import Store

#: One level more than metadata may have.
DEEP: list[object] = []
for _ in range(16):
    DEEP = [DEEP]


def test_a_two_character_word_finds_the_longer_one_right_after_the_acknowledgement(store: Store) -> None:
    lin = store.memory.of(user="lin")
    store.run(lin.ingest("我昨天买了一台笔记本电脑"))
    context = store.run(lin.query("电脑"))
    assert [hit.text for hit in context.raw] == ["我昨天买了一台笔记本电脑"]
    assert "电脑" in context.raw[0].why


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_what_was_acknowledged_is_found_by_the_very_next_query(folder_store: Store, count: int) -> None:
    lin = folder_store.memory.of(user="lin")

    async def post_and_ask() -> int:
        found = 0
        for i in range(count):
            receipt = (await lin.ingest(f"the parcel number x{i} has arrived")).receipts[0]
            context = await lin.query(f"parcel x{i}", k=1)
            found += context.raw[0].id == receipt.id
        return found

    assert folder_store.run(post_and_ask()) == count


def test_sequence_numbers_have_no_gaps_under_concurrency(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")

    async def write() -> None:
        await asyncio.gather(*(lin.ingest([f"{i} a", f"{i} b"]) for i in range(40)))

    store.run(write())
    messages = store.run(lin.history(limit=100, order="oldest")).items
    assert [message.seq for message in messages] == list(range(1, 81))
    pairs = [messages[i : i + 2] for i in range(0, 80, 2)]
    assert all(one.content[:-1] == other.content[:-1] for one, other in pairs)


def test_an_idempotency_key_records_once_and_gives_the_first_receipt_back(store: Store) -> None:
    lin = store.memory.of(user="lin")
    first = store.run(lin.ingest(["one", "two"], idempotency_key="k"))
    again = store.run(lin.ingest(["one", "two"], idempotency_key="k"))
    assert again.thread == first.thread
    assert [(r.id, r.seq) for r in again.receipts] == [(r.id, r.seq) for r in first.receipts]
    assert {receipt.status for receipt in again.receipts} == {"duplicate"}
    with pytest.raises(IdempotencyConflict):
        store.run(lin.ingest(["one", "three"], idempotency_key="k"))
    assert len(store.run(lin.history()).items) == 2


def test_a_longer_retry_records_what_is_new(store: Store) -> None:
    lin = store.memory.of(user="lin")
    first = store.run(lin.ingest(["one"], idempotency_key="k"))
    more = store.run(lin.ingest(["one", "two"], idempotency_key="k"))
    assert more.thread == first.thread
    assert [receipt.status for receipt in more.receipts] == ["duplicate", "recorded"]


def test_history_is_newest_first_and_paged(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest([f"message {i}" for i in range(120)]))
    assert [message.seq for message in store.run(lin.history()).items] == list(range(120, 70, -1))
    seen, cursor = list[int](), None
    while True:
        page = store.run(lin.history(limit=50, order="oldest", after=cursor))
        seen += [message.seq for message in page.items]
        if (cursor := page.next) is None:
            break
    assert seen == list(range(1, 121))


def test_history_can_be_searched_by_all_of_its_words(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest(["红色的雨伞", "蓝色的雨伞", "红色的帽子", "a red umbrella", "red hats and umbrellas"]))

    def found(search: str) -> list[str]:
        return [message.content for message in store.run(lin.history(search=search)).items]

    for _ in range(2):
        assert found("红色 雨伞") == ["红色的雨伞"]
        assert found("umbrella red") == ["red hats and umbrellas", "a red umbrella"]
        assert found("绿色") == []
        store.run(store.memory.settle(10))


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        ("/messages/1/content", {"role": "user", "content": " "}),
        ("/messages/1/content", {"role": "user", "content": 5}),
        ("/messages/1/content", {"role": "user", "content": "x" * 1_000_001}),
        ("/messages/1/content", {"role": "user", "content": "nul \x00"}),
        ("/messages/1/content", {"role": "user"}),
        ("/messages/1/role", {"role": "wizard", "content": "x"}),
        ("/messages/1/at", {"role": "user", "content": "x", "at": "yesterday"}),
        ("/messages/1/colour", {"role": "user", "content": "x", "colour": "red"}),
        ("/messages/1/metadata", {"role": "user", "content": "x", "metadata": {"deep": DEEP}}),
        ("/messages/1/metadata", {"role": "user", "content": "x", "metadata": {"big": "x" * 70_000}}),
        ("/messages/1/metadata", {"role": "user", "content": "x", "metadata": {"at": object()}}),
        ("/messages/1/name", {"role": "user", "content": "x", "name": ""}),
    ],
)  # fmt: skip
def test_one_bad_message_refuses_the_whole_request(store: Store, pointer: str, message: dict[str, object]) -> None:
    lin = store.memory.of(user="lin", thread="t")
    with pytest.raises(InvalidRequest) as refused:
        store.run(lin.ingest(["fine", message]))
    assert [fault.pointer for fault in refused.value.faults] == [pointer]
    assert store.run(lin.history()).items == ()


@pytest.mark.parametrize("bad", ["", " x", "x ", "a\nb", "a\x00", "\ud800", "x" * 256])
def test_an_unfit_id_is_refused(store: Store, bad: str) -> None:
    for scope in (Scope(bad), Scope(user=bad), Scope(agent=bad), Scope(thread=bad)):
        with pytest.raises(InvalidRequest):
            store.run(store.memory.ingest(scope, "hello"))


def test_metadata_and_odd_text_come_back_as_they_were(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    said = "𠮷野家 🍜 'quotes' \"double\" \\ % _ ; -- <b> \u202e rtl \u0301"
    metadata = {"深": {"list": [1, 2.5, None, True, "雨"]}, "": "empty key", "$.a": "path"}
    store.run(lin.ingest([{"role": "tool", "content": said, "name": "查询", "metadata": metadata}]))
    message = store.run(lin.history()).items[0]
    assert (message.content, message.name, message.metadata, message.role) == (said, "查询", metadata, "tool")
