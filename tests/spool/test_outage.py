"""While the storage cannot be written, messages wait on disk; nobody loses anything, and all comes right by itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rememberd.errors import IdempotencyConflict, StorageUnavailable, ThreadTaken
from rememberd.model import Query, Receipt

from .outage import drained, locked, poisoned, quick_store, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Store


POISON = "NEW.content = 'poison'"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = quick_store(tmp_path / "memory")
    yield made
    made.close()


def _contents(store: Store, user: str = "lin") -> list[str]:
    page = store.run(store.memory.of(user=user).history(order="oldest", limit=1000))
    return [message.content for message in page.items]


def _statuses(receipts: tuple[Receipt, ...]) -> list[tuple[str, int | None]]:
    return [(receipt.status, receipt.seq) for receipt in receipts]


def _refusals(store: Store, call: str) -> int:
    attempt = store.run(store.parts.spool.last_attempt(call))
    return attempt.number if attempt else 0


def test_messages_are_spooled_and_recorded_in_order_when_the_storage_is_back(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("0"))
    with locked(store.folder):
        for i in range(1, 30):
            receipts = store.run(lin.ingest([f"{i}", f"{i}b"]))
            assert _statuses(receipts.receipts) == [("spooled", None)] * 2
        assert store.run(store.memory.operate.stats()).spool == 29
    drained(store)
    assert _contents(store) == ["0", *(text for i in range(1, 30) for text in (f"{i}", f"{i}b"))]
    assert _statuses(store.run(lin.ingest("last")).receipts) == [("recorded", 60)]
    assert list((store.folder / "spool").iterdir()) == []


def test_a_repeat_is_promised_the_id_of_a_first_try_that_nobody_can_see(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    (first,) = store.run(lin.ingest("once", idempotency_key="k")).receipts
    with locked(store.folder):
        repeated = store.run(lin.ingest("once", idempotency_key="k")).receipts
        more = store.run(
            lin.ingest([{"content": "once", "idempotency_key": "k#0"}, {"content": "twice", "idempotency_key": "l"}])
        ).receipts
    assert [receipt.id for receipt in (*repeated, *more[:1])] == [first.id] * 2
    drained(store)
    assert _contents(store) == ["once", "twice"]
    ids = [message.id for message in store.run(lin.history(order="oldest")).items]
    assert ids == [first.id, more[1].id]


def test_ids_promised_while_spooled_are_the_ids_recorded(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    with locked(store.folder):
        promised = [store.run(lin.ingest(f"{i}")).receipts[0].id for i in range(5)]
    drained(store)
    page = store.run(lin.history(order="oldest"))
    assert [message.id for message in page.items] == promised


def test_what_waits_outlives_the_process(store: Store) -> None:
    with locked(store.folder):
        for i in range(10):
            store.run(store.memory.of(user="lin", thread="t").ingest(f"{i}"))
            if i in (3, 6):
                store.reopen()
    drained(store)
    assert _contents(store) == [str(i) for i in range(10)]


def test_window_and_recall_read_what_waits(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("我喜欢乌龙茶"))
    with locked(store.folder):
        store.run(lin.ingest([{"role": "assistant", "content": "记下了"}, "My locker number is 4711"]))
        window = store.run(lin.window())
        assert [message.content for message in window] == ["我喜欢乌龙茶", "记下了", "My locker number is 4711"]
        hits = store.run(lin.query("locker number")).raw
        assert [hit.text for hit in hits][:1] == ["My locker number is 4711"]
        assert store.run(store.memory.of(user="mei").query("locker number")).raw == ()
        assert store.run(store.memory.of(user="mei", thread="t").window()) == ()
        everyone = store.run(store.memory.operate.query("default", Query(text="locker")))
        assert [hit.text for hit in everyone.raw] == ["My locker number is 4711"]
    drained(store)
    assert [message.content for message in store.run(lin.window())][-1] == "My locker number is 4711"
    assert [message.seq for message in store.run(lin.window())] == [1, 2, 3]


def test_a_turn_goes_on_while_the_storage_is_out(store: Store) -> None:
    async def converse() -> None:
        lin = store.memory.of(user="lin", thread="t")
        async with lin.turn("what is my name?") as turn:
            assert turn.receipt is not None
            assert turn.receipt.status == "spooled"
            reply = await turn.reply("Lin.", sentiment="calm")
        assert reply is not None
        assert reply.status == "spooled"

    with locked(store.folder):
        store.run(converse())
    drained(store)
    assert _contents(store) == ["what is my name?", "Lin."]
    notes = store.run(store.memory.operate.audit())
    ended = next(note for note in notes.items if note.action == "turn.end")
    state = store.run(store.parts.storage.records.turn("default", ended.detail["turn"]))
    assert state is not None
    assert (state.outcome, state.detail) == ("ok", {"sentiment": "calm"})


def test_a_turn_begun_before_the_outage_ends_after_it(store: Store) -> None:
    async def converse() -> str | None:
        async with store.memory.of(user="lin", thread="t").turn("hello") as turn:
            with locked(store.folder):
                reply = await turn.reply("hi")
                assert reply is not None
                assert reply.status == "spooled"
            return turn.id

    turn_id = store.run(converse())
    drained(store)
    assert _contents(store) == ["hello", "hi"]
    state = store.run(store.parts.storage.records.turn("default", turn_id or ""))
    assert state is not None
    assert state.outcome == "ok"


def test_an_idempotency_key_holds_across_the_spool(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("before", idempotency_key="b"))
    with locked(store.folder):
        first = store.run(lin.ingest("once", idempotency_key="k")).receipts[0]
        again = store.run(lin.ingest("once", idempotency_key="k")).receipts[0]
        assert (again.id, again.seq, again.status) == (first.id, None, "duplicate")
        with pytest.raises(IdempotencyConflict):
            store.run(lin.ingest("other", idempotency_key="k"))
        store.run(lin.ingest("before", idempotency_key="b"))
    drained(store)
    assert _contents(store) == ["before", "once"]
    later = store.run(lin.ingest("once", idempotency_key="k")).receipts[0]
    assert (later.id, later.seq, later.status) == (first.id, 2, "duplicate")


def test_a_made_up_thread_comes_back_for_the_same_key(store: Store) -> None:
    lin = store.memory.of(user="lin")
    with locked(store.folder):
        first = store.run(lin.ingest("once", idempotency_key="k"))
        assert store.run(lin.ingest("once", idempotency_key="k")).thread == first.thread
    drained(store)
    assert store.run(lin.ingest("once", idempotency_key="k")).thread == first.thread


def test_a_key_that_turns_out_taken_becomes_a_dead_letter(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("first", idempotency_key="k"))
    with locked(store.folder):
        assert store.run(lin.ingest("second", idempotency_key="k")).receipts[0].status == "spooled"
        store.run(lin.ingest("third"))
    drained(store)
    assert _contents(store) == ["first", "third"]
    [letter] = store.run(store.parts.spool.dead_letters())
    assert (letter.last.reason, letter.last.number) == ("conflict", 1)


def test_another_users_thread_is_refused_while_it_waits(store: Store) -> None:
    with locked(store.folder):
        store.run(store.memory.of(user="lin", thread="t").ingest("mine"))
        with pytest.raises(ThreadTaken):
            store.run(store.memory.of(user="mei", thread="t").ingest("not mine"))


def test_other_writes_are_refused_and_may_be_tried_again(store: Store) -> None:
    with locked(store.folder), pytest.raises(StorageUnavailable) as refused:
        store.run(store.memory.of(user="lin").add("likes tea"))
    assert refused.value.retryable
    store.run(store.memory.of(user="lin").add("likes tea"))


def test_threads_that_do_not_wait_go_to_the_storage_as_soon_as_it_is_back(tmp_path: Path) -> None:
    store = quick_store(tmp_path / "memory", failure_queue__first_pause=60, failure_queue__longest_pause=60)
    poisoned(store.folder, POISON)
    bad, good = store.memory.of(user="lin", thread="bad"), store.memory.of(user="lin", thread="good")
    assert store.run(bad.ingest("poison")).receipts[0].status == "spooled"
    [waiting] = store.opened.engine._spooler.due(10)
    wait_until(store, lambda: _refusals(store, waiting) == 1)
    assert store.run(good.ingest("fine")).receipts[0].status == "recorded"
    assert store.run(bad.ingest("behind it")).receipts[0].status == "spooled"
    store.close()


def test_a_call_refused_too_often_becomes_a_dead_letter_and_its_thread_goes_on(store: Store) -> None:
    bad, good = store.memory.of(user="lin", thread="bad"), store.memory.of(user="lin", thread="good")
    with locked(store.folder, POISON):
        for i in range(3):
            store.run(good.ingest(f"good {i}"))
            store.run(bad.ingest("poison" if i == 1 else f"bad {i}"))
    drained(store)
    assert [text for text in _contents(store) if text.startswith("good")] == ["good 0", "good 1", "good 2"]
    assert [text for text in _contents(store) if not text.startswith("good")] == ["bad 0", "bad 2"]
    [letter] = store.run(store.parts.spool.dead_letters())
    assert (letter.last.reason, letter.last.number) == ("storage_unavailable", 5)
    assert letter.last.detail


def test_attempts_are_counted_across_restarts(store: Store) -> None:
    with locked(store.folder, POISON):
        store.run(store.memory.of(user="lin", thread="t").ingest("poison"))
        [waiting] = store.opened.engine._spooler.due(10)
    wait_until(store, lambda: _refusals(store, waiting) >= 2)
    store.reopen()
    assert _refusals(store, waiting) >= 2
    drained(store)
    [letter] = store.run(store.parts.spool.dead_letters())
    assert letter.last.number == 5


def test_settling_waits_for_what_waits(store: Store) -> None:
    with locked(store.folder):
        store.run(store.memory.of(user="lin", thread="t").ingest("later"))
        assert not store.run(store.memory.settle(0.2)).settled
    assert store.run(store.memory.settle(10)).settled
    assert _contents(store) == ["later"]


def test_the_doctor_names_the_cure(store: Store) -> None:
    def finding() -> tuple[str, str]:
        diagnosis = store.run(store.memory.operate.doctor())
        [found] = [finding for finding in diagnosis.findings if finding.check == "spool"]
        return found.state, found.cure

    assert finding() == ("ok", "")
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("first", idempotency_key="k"))
    with locked(store.folder):
        store.run(lin.ingest("second", idempotency_key="k"))
        assert finding() == ("warning", "make the storage writable; they follow by themselves")
    drained(store)
    assert finding() == ("warning", "rememberd failures list")
    assert store.run(store.memory.operate.stats()).dead_letters == 1


def test_what_the_storage_refuses_harms_no_neighbour(store: Store) -> None:
    poisoned(store.folder, POISON)

    async def together() -> list[str]:
        calls = [store.memory.of(user="lin", thread=f"t-{i}").ingest("poison" if i == 3 else "fine") for i in range(8)]
        return [receipts.receipts[0].status for receipts in await asyncio.gather(*calls)]

    assert store.run(together()) == ["recorded"] * 3 + ["spooled"] + ["recorded"] * 4
    drained(store)
    assert store.parts.spool.usage().dead == 1
