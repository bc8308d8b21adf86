"""Memory items: revisions, validity, expiry, the past."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from rememberd.errors import IdempotencyConflict, InvalidRequest, NotFound, StaleRevision

if TYPE_CHECKING:
    from rememberd.memory import Handle
    from tests.conftest import Store


def _lin(store: Store) -> Handle:
    return store.memory.of(user="lin")


def _recalled(store: Store, text: str, **options: object) -> list[str]:
    return [hit.text for hit in store.run(_lin(store).query(text, **options)).raw]  # type: ignore[arg-type]


def test_a_revision_keeps_what_it_does_not_change_and_the_old_one_stays(store: Store) -> None:
    lin = _lin(store)
    first = store.run(lin.add("likes light foundation", kind="preference", topic="make-up", metadata={"a": 1}))
    store.clock.forward(days=1)
    second = store.run(lin.revise(first.id, text="likes full foundation"))
    assert (second.revision, second.topic, second.metadata, second.at) == (2, "make-up", {"a": 1}, first.at)
    assert [item.text for item in store.run(lin.versions(first.id))] == [
        "likes light foundation",
        "likes full foundation",
    ]
    assert _recalled(store, "foundation") == ["likes full foundation"]


def test_as_of_gives_the_old_revision(store: Store) -> None:
    lin = _lin(store)
    item = store.run(lin.add("lives in Hangzhou"))
    then = store.clock.forward(days=1)
    store.clock.forward(days=1)
    store.run(lin.revise(item.id, text="lives in Shanghai"))
    store.run(lin.ingest("I have moved, and my lives go on"))
    assert _recalled(store, "lives", as_of=then) == ["lives in Hangzhou"]
    assert "lives in Shanghai" in _recalled(store, "lives")
    assert _recalled(store, "Shanghai", as_of=then) == []


def test_what_has_expired_or_does_not_hold_yet_is_never_recalled(store: Store) -> None:
    lin, now = _lin(store), store.clock.now
    store.run(lin.add("voucher one, always"))
    store.run(lin.add("voucher two, expires", expires_at=now + timedelta(hours=1)))
    store.run(lin.add("voucher three, from tomorrow", valid_from=now + timedelta(days=1)))
    store.run(lin.add("voucher four, until tomorrow", valid_until=now + timedelta(days=1)))
    assert set(_recalled(store, "voucher")) == {
        "voucher one, always",
        "voucher two, expires",
        "voucher four, until tomorrow",
    }
    store.clock.forward(hours=1)
    assert "voucher two, expires" not in _recalled(store, "voucher")
    assert "voucher two, expires" not in _recalled(store, "voucher", now=now)
    assert all("two" not in item.text for item in store.run(lin.list()).items)
    store.clock.forward(days=1)
    assert set(_recalled(store, "voucher")) == {"voucher one, always", "voucher three, from tomorrow"}


def test_a_kind_with_a_ttl_expires_by_itself(store: Store) -> None:
    item = store.run(_lin(store).add("for today only", kind="scratch"))
    assert item.expires_at == store.clock.now + timedelta(days=1)
    store.clock.forward(days=1)
    with pytest.raises(NotFound):
        store.run(_lin(store).get(item.id))


def test_what_is_deleted_is_not_found_and_its_revisions_stay(store: Store) -> None:
    lin = _lin(store)
    item = store.run(lin.add("the umbrella is red"))
    store.run(store.memory.settle(10))
    store.run(lin.delete(item.id))
    assert _recalled(store, "umbrella") == []
    assert store.run(lin.list()).items == ()
    with pytest.raises(NotFound):
        store.run(lin.get(item.id))
    assert [version.deleted for version in store.run(lin.versions(item.id))] == [False, True]
    store.run(store.memory.settle(10))
    assert _recalled(store, "umbrella") == []


def test_of_concurrent_revisions_with_the_same_expectation_one_wins(store: Store) -> None:
    lin = _lin(store)
    item = store.run(lin.add("counter"))

    async def race() -> list[object]:
        return await asyncio.gather(
            *(lin.revise(item.id, text=f"counter {i}", expected=1) for i in range(8)), return_exceptions=True
        )

    ended = store.run(race())
    assert sum(isinstance(one, StaleRevision) for one in ended) == 7
    assert store.run(lin.get(item.id)).revision == 2


def test_the_same_idempotency_key_adds_once(store: Store) -> None:
    lin = _lin(store)
    first = store.run(lin.add("once", idempotency_key="k"))
    assert store.run(lin.add("once", idempotency_key="k")) == first
    with pytest.raises(IdempotencyConflict):
        store.run(lin.add("twice", idempotency_key="k"))
    with pytest.raises(IdempotencyConflict):
        store.run(lin.ingest([{"role": "user", "content": "once", "idempotency_key": "k"}]))


def test_lists_are_filtered_and_paged_without_gaps_or_repeats(store: Store) -> None:
    lin = _lin(store)
    for i in range(25):
        store.run(lin.add(f"item {i}", topic="odd" if i % 2 else "even", metadata={"number": i, "half": i // 2}))
    seen, cursor = list[str](), None
    while True:
        page = store.run(lin.list(filters={"topic": "odd"}, after=cursor, limit=5))
        seen += [item.text for item in page.items]
        if (cursor := page.next) is None:
            break
    assert seen == [f"item {i}" for i in range(23, 0, -2)]
    assert [item.text for item in store.run(lin.list(filters={"metadata.number": ["3", "4"]})).items] == [
        "item 4",
        "item 3",
    ]
    assert set(_recalled(store, "item", filters={"metadata.half": "7"}, k=20)) == {"item 15", "item 14"}


def test_a_cursor_of_another_list_is_refused(store: Store) -> None:
    for tenant in ("acme", "other"):
        for i in range(3):
            store.run(store.memory.of(tenant=tenant).add(f"item {i}"))
    foreign = store.run(store.memory.of(tenant="acme").list(limit=1)).next
    for cursor in (foreign, "!!", "AAAA", "", "é"):
        with pytest.raises(InvalidRequest):
            store.run(store.memory.of(tenant="other").list(limit=1, after=cursor))


@pytest.mark.parametrize(
    ("pointer", "fields"),
    [
        ("/text", {"text": ""}),
        ("/text", {"text": "a\x00b"}),
        ("/text", {"text": "\ud800"}),
        ("/kind", {"text": "x", "kind": "message"}),
        ("/kind", {"text": "x", "kind": "nonsense"}),
        ("/importance", {"text": "x", "importance": 2}),
        ("/topic", {"text": "x", "topic": ""}),
        ("/metadata", {"text": "x", "metadata": {"a": float("nan")}}),
        ("/metadata", {"text": "x", "metadata": {"a": "\x00"}}),
    ],
)
def test_a_bad_memory_is_refused_and_nothing_is_stored(store: Store, pointer: str, fields: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        store.run(_lin(store).add(**fields))  # type: ignore[arg-type]
    assert [fault.pointer for fault in refused.value.faults] == [pointer]
    assert store.run(_lin(store).list()).items == ()


def test_a_kind_that_is_not_indexed_is_never_recalled(store: Store) -> None:
    lin = _lin(store)
    store.run(lin.add("an umbrella in a scratch note", kind="scratch"))
    assert _recalled(store, "umbrella") == []
    assert _recalled(store, "umbrella", as_of=store.clock.forward(minutes=1)) == []
    assert len(store.run(lin.list()).items) == 1


def test_a_question_about_the_past_does_not_see_the_present_window(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("hello"))
    assert store.run(lin.query("hello")).messages
    assert store.run(lin.query("hello", as_of=store.clock.now - timedelta(days=1))).messages == ()


@pytest.mark.parametrize("is_settled", [False, True])
@pytest.mark.parametrize(
    ("text", "again"),
    [("Lin likes light foundations.", "lin likes LIGHT foundations"), ("林喜歡輕薄的粉底", "林喜欢轻薄的粉底。")],
)
def test_what_is_held_already_is_recognised_and_becomes_its_next_revision(
    store: Store, text: str, again: str, is_settled: bool
) -> None:
    lin = _lin(store)
    first = store.run(lin.add(text, kind="preference", importance=0.8))
    if is_settled:
        store.run(store.memory.settle(10))
    store.clock.forward(days=1)
    second = store.run(lin.add(again, kind="preference", topic="make-up", metadata={"from": "chat"}))
    assert (second.id, second.revision, second.text, second.at) == (first.id, 2, text, first.at)
    assert (second.importance, second.topic, second.metadata) == (0.8, "make-up", {"from": "chat"})
    assert second.revised_at == store.clock.now
    assert len(store.run(lin.list()).items) == 1


def test_what_differs_in_anything_is_a_new_item(store: Store) -> None:
    lin, now = _lin(store), store.clock.now
    text = "Lin likes light foundations"
    first = {"text": text, "topic": "make-up", "source": "chat", "domain": "taste", "metadata": {"ticket": 1}}
    others: list[dict[str, object]] = [
        {"text": "Lin does not like light foundations"},
        {"text": "Lin likes 2 light foundations"},
        {"text": "Lin likes light foundations in winter"},
        {"kind": "preference"},
        {"topic": "houses"},
        {"domain": "work"},
        {"source": "mail"},
        {"metadata": {"ticket": 2}},
        {"valid_until": now + timedelta(days=9)},
        {"expires_at": now + timedelta(days=9)},
    ]
    store.run(lin.add(**first))  # type: ignore[arg-type]
    store.run(store.memory.settle(10))
    for fields in others:
        assert store.run(lin.add(**first | fields)).revision == 1, fields  # type: ignore[arg-type]
    scopes: list[dict[str, Any]] = [
        {"user": "mei"}, {"user": None}, {"user": "lin", "agent": "seller"}, {"tenant": "acme", "user": "lin"}
    ]  # fmt: skip
    for scope in scopes:
        assert store.run(store.memory.of(**scope).add(text)).revision == 1, scope


def test_what_was_deleted_or_has_expired_is_not_recognised(store: Store) -> None:
    lin = _lin(store)
    item = store.run(lin.add("the umbrella is red"))
    store.run(lin.delete(item.id))
    again = store.run(lin.add("the umbrella is red"))
    assert (again.id != item.id, again.revision) == (True, 1)
    soon = store.clock.now + timedelta(hours=1)
    store.run(lin.add("the kettle is blue", expires_at=soon))
    store.clock.forward(hours=2)
    assert store.run(lin.add("the kettle is blue", expires_at=soon)).revision == 1


def test_a_recognised_item_keeps_the_idempotency_key(store: Store) -> None:
    lin = _lin(store)
    first = store.run(lin.add("once"))
    second = store.run(lin.add("Once!", idempotency_key="k"))
    assert (second.id, second.revision) == (first.id, 2)
    assert store.run(lin.add("Once!", idempotency_key="k")) == second
    with pytest.raises(IdempotencyConflict):
        store.run(lin.add("twice", idempotency_key="k"))


def test_of_many_that_say_the_same_at_once_none_is_lost(store: Store) -> None:
    lin = _lin(store)
    store.run(lin.add("the kettle whistles"))

    async def race() -> list[object]:
        return await asyncio.gather(*(lin.add("The kettle whistles.") for _ in range(8)), return_exceptions=True)

    ended = store.run(race())
    assert [one for one in ended if isinstance(one, BaseException)] == []
    assert {item.text.lower().rstrip(".") for item in store.run(lin.list()).items} == {"the kettle whistles"}
