"""Questions about a time: narrowed to it where they ask for what was said then, leaning to it otherwise."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rememberd.model import Context
    from tests.conftest import Store

#: Said on these days of November 2026, at noon UTC; the clock stands at Sunday, 15 November.
SAID = {
    3: "Last summer I planted tomatoes",
    9: "The dentist moved my appointment",
    10: "I bought a red umbrella",
    11: "我把雨伞忘在公司了",
    14: "The umbrella is lost again",
}


@pytest.fixture(autouse=True)
def _said(store: Store) -> None:
    for day, text in SAID.items():
        message = {"role": "user", "content": text, "at": f"2026-11-{day:02}T12:00:00Z"}
        store.run(store.memory.of(user="lin", thread=f"day-{day}").ingest(message))


def _ask(store: Store, question: str, **options: Any) -> Context:
    return store.run(store.memory.of(user="lin").query(question, **options))


def _texts(context: Context) -> list[str]:
    return [hit.text for hit in context.raw]


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what did I say last Tuesday", [10]),
        ("What did I tell you last Tuesday?", [10]),
        ("what did we talk about yesterday?", [14]),
        ("What did I mention on 9 November?", [9]),
        ("what have I said since last Wednesday?", [14, 11]),
        ("what did I say between 9 and 10 November?", [10, 9]),
        ("我上周二说了什么", [10]),
        ("我這週三說了什麼？", [11]),
        ("昨天聊了什么？", [14]),
        ("这周我跟你说过什么？", [14, 11, 10, 9]),
    ],
)
def test_a_question_for_what_was_said_at_a_time_is_narrowed_to_it(store: Store, question: str, days: list[int]) -> None:
    if "上周二" in question:
        store.clock.forward(days=2)  # Tuesday of last week, as seen from the next one
    context = _ask(store, question)
    assert _texts(context) == [SAID[day] for day in days]
    assert context.narrowed is not None
    assert context.narrowed.words in question
    assert all(context.narrowed.words in hit.why for hit in context.raw)


def test_why_says_to_which_day_a_question_was_narrowed(store: Store) -> None:
    context = _ask(store, "what did I say last Tuesday?")
    assert context.raw[0].why == "is from last Tuesday (2026-11-10)"
    assert context.raw[0].parts["time"] > 0
    assert context.narrowed is not None
    assert context.narrowed.since == datetime(2026, 11, 10, tzinfo=UTC)
    assert context.narrowed.until == datetime(2026, 11, 11, tzinfo=UTC)


def test_the_other_words_of_a_narrowed_question_still_count(store: Store) -> None:
    context = _ask(store, "What did I mention this week about the dentist?")
    assert _texts(context)[0] == SAID[9]
    assert SAID[3] not in _texts(context)


def test_the_day_is_that_of_the_asker(store: Store) -> None:
    late = {"role": "user", "content": "The train leaves at seven", "at": "2026-11-14T17:00:00Z"}
    store.run(store.memory.of(user="lin", thread="late").ingest(late))
    asked = "what did I say yesterday?"
    assert _texts(_ask(store, asked)) == ["The train leaves at seven", SAID[14]]
    assert _texts(_ask(store, asked, timezone="Asia/Shanghai")) == [SAID[14]]
    then = datetime(2026, 11, 15, 18, tzinfo=UTC)
    assert _texts(_ask(store, asked, timezone="Asia/Shanghai", now=then)) == ["The train leaves at seven"]


def test_when_nothing_was_said_then_the_context_says_so_and_nothing_else_is_brought_up(store: Store) -> None:
    context = _ask(store, "what did I say last Thursday?", timezone="Europe/Berlin")
    assert not context.raw
    assert not context.items
    assert not context.citations
    assert context.text == ("Nothing was found that was said in the time asked for: last Thursday (2026-11-12).")
    assert context.tokens.condensed > 0
    assert _ask(store, "我前天说了什么？").text == "没有找到“前天”（2026-11-13）说过的内容。"
    assert _ask(store, "what did I say last Thursday?", budget=3).text == ""


@pytest.mark.parametrize(
    "question",
    [
        "Where did I lose the umbrella last Monday?",
        "What did I say about the umbrella last Friday?",
        "I told you yesterday that I like my umbrella",
        "what did I say about next week and the umbrella?",
        "我上周五买的 umbrella 是什么颜色？",
        "我说昨天买了 umbrella 吗？",
    ],
)
def test_a_question_about_what_happened_at_a_time_is_not_narrowed(store: Store, question: str) -> None:
    context = _ask(store, question, floor=0.0)
    assert context.narrowed is None
    assert {SAID[10], SAID[14]} <= set(_texts(context))


def test_of_two_that_match_alike_the_one_of_the_time_asked_for_comes_first(store: Store) -> None:
    for day in (2, 12):
        message = {"role": "user", "content": "the parcel came", "at": f"2026-11-{day:02}T12:00:00Z"}
        store.run(store.memory.of(user="lin", thread=f"parcel-{day}").ingest(message))
    assert [hit.at.day for hit in _ask(store, "which parcel came?", floor=0.0).raw[:2]] == [12, 2]
    hits = _ask(store, "which parcel came last week?", now=datetime(2026, 11, 10, tzinfo=UTC), floor=0.0).raw
    assert [hit.at.day for hit in hits[:2]] == [2, 12]
    assert "is from last week (2026-11-02 to 2026-11-08)" in hits[0].why
    assert hits[1].parts["time"] == 0


def test_a_narrowed_question_keeps_to_its_filters_too(store: Store) -> None:
    asked = "what did I say this week?"
    assert _texts(_ask(store, asked, filters={"after": "2026-11-10T00:00:00Z", "before": "2026-11-11T00:00:00Z"})) == [
        SAID[10]
    ]
    assert _texts(_ask(store, asked, filters={"role": "assistant"})) == []


def test_what_is_just_said_is_found_by_its_time_before_the_index_knows_it(store: Store) -> None:
    store.run(store.memory.settle(10))
    store.run(store.memory.of(user="lin", thread="now").ingest("The kettle whistles"))
    assert "The kettle whistles" in _texts(_ask(store, "what did I say today?"))


def test_what_a_message_calls_yesterday_is_found_by_its_date(store: Store) -> None:
    for day, text in ((4, "Yesterday we met Mei at the harbour"), (3, "Nothing to do at the harbour")):
        message = {"role": "user", "content": text, "at": f"2025-03-{day:02}T12:00:00Z"}
        store.run(store.memory.of(user="lin", thread=f"harbour-{day}").ingest(message))
    hits = _ask(store, "Whom did we meet at the harbour on 3 March 2025?").raw
    assert hits[0].text == "Yesterday we met Mei at the harbour"
    store.run(store.memory.settle(10))
    again = _ask(store, "Whom did we meet at the harbour on 3 March 2025?").raw
    assert [hit.text for hit in again] == [hit.text for hit in hits]
