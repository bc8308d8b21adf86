"""Turns: recorded before anything else happens, ended ok or error, and never in the agent's way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rememberd.errors import Conflict, InvalidRequest

if TYPE_CHECKING:
    from rememberd.memory import TurnHandle
    from tests.conftest import Store


def test_a_turn_records_recalls_and_records_the_reply(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t-2")
    store.run(store.memory.of(user="lin", thread="t-1").ingest("我皮肤敏感，想找轻薄的粉底"))

    async def converse() -> TurnHandle:
        async with lin.turn("有什么粉底推荐？") as turn:
            assert [hit.text for hit in turn.context.items] == ["我皮肤敏感，想找轻薄的粉底"]
            assert turn.context.openai()[-1] == {"role": "user", "content": "有什么粉底推荐？"}
            await turn.reply("推荐轻薄款", agent_responses={"sentiment": {"mood": "good"}})
        return turn

    turn = store.run(converse())
    said = [(message.role, message.content) for message in store.run(lin.history(order="oldest")).items]
    assert said == [("user", "有什么粉底推荐？"), ("assistant", "推荐轻薄款")]
    state = store.run(store.parts.storage.records.turn("default", str(turn.id)))
    assert state is not None
    assert (state.outcome, state.detail) == ("ok", {"agent_responses": {"sentiment": {"mood": "good"}}})


def test_an_exception_in_the_block_ends_the_turn_as_error_and_goes_on(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    turns: list[TurnHandle] = []

    async def converse() -> None:
        async with lin.turn("hello") as turn:
            turns.append(turn)
            raise KeyError("the agent's own")

    with pytest.raises(KeyError, match="the agent's own"):
        store.run(converse())
    state = store.run(store.parts.storage.records.turn("default", str(turns[0].id)))
    assert state is not None
    assert (state.outcome, state.detail) == ("error", {"error": "KeyError"})


def test_a_turn_is_idempotent_with_a_key_and_its_reply_always(store: Store) -> None:
    lin = store.memory.of(user="lin")

    async def converse() -> tuple[str | None, str | None]:
        async with lin.turn("hello", idempotency_key="k") as turn:
            first = await turn.reply("hi")
            again = await turn.reply("hi")
            assert first is not None
            assert again is not None
            assert (first.id, again.status) == (again.id, "duplicate")
        return turn.thread, turn.receipt.status if turn.receipt else None

    thread, status = store.run(converse())
    assert status == "recorded"

    async def retry() -> tuple[str | None, str | None]:
        async with lin.turn("hello", idempotency_key="k") as turn:
            return turn.thread, turn.receipt.status if turn.receipt else None

    assert store.run(retry()) == (thread, "duplicate")


def test_with_the_storage_gone_the_turn_waits_and_the_context_says_so(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("hello"))
    store.run(store.parts.storage.close())

    async def converse() -> TurnHandle:
        async with lin.turn("where is the umbrella?") as turn:
            reply = await turn.reply("I am")
            assert reply is not None
            assert reply.status == "spooled"
        return turn

    turn = store.run(converse())
    assert turn.receipt is not None
    assert turn.receipt.status == "spooled"
    answer = store.run(lin.query("umbrella"))
    for context in (turn.context, answer):
        assert any("storage_unavailable" in part for part in context.degraded)
    assert [hit.text for hit in answer.raw] == ["where is the umbrella?"]


def test_with_storage_and_spool_gone_the_block_still_runs_and_the_context_says_so(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("hello"))
    store.run(store.parts.storage.close())
    store.run(store.parts.spool.close())

    async def converse() -> TurnHandle:
        async with lin.turn("are you there?") as turn:
            assert await turn.reply("I am") is None
        return turn

    turn = store.run(converse())
    assert turn.id is None
    assert any("storage_unavailable" in part for part in turn.context.degraded)
    assert any("storage_unavailable" in part for part in store.run(lin.query("hello")).degraded)


def test_a_bad_message_is_the_callers_mistake_and_is_raised(store: Store) -> None:
    async def converse() -> None:
        async with store.memory.of(user="lin").turn("   "):
            pytest.fail("the block ran")

    with pytest.raises(InvalidRequest):
        store.run(converse())


def test_a_second_reply_that_differs_is_refused_in_words_of_the_turn(store: Store) -> None:
    async def converse() -> None:
        async with store.memory.of(user="lin").turn("hello") as turn:
            await turn.reply("hi")
            await turn.reply("something else")

    with pytest.raises(Conflict, match="this turn was replied to already"):
        store.run(converse())
