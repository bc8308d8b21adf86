"""Fitting: the budget holds for every token, sessions stand under their dates, and each hit has its fate."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rememberd import wiring
from rememberd.flow.fit import fit
from rememberd.language.tokens import estimate
from rememberd.model import Hit, Message, Query
from rememberd.ports.parts import Recalled
from rememberd.settings import load_settings

if TYPE_CHECKING:
    from rememberd.language.tokens import Counter

MONDAY = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)

#: What a tokenizer may stumble over: other scripts, runs of punctuation and spaces, digits, line ends.
PIECES = st.sampled_from(
    ["))))", "\n\n", "  ", "...", "🙂🙂", "1234567", "粉底", "l'été", "مرحبا", "}\r\n", "/", "_", "'s"]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=30)), min_size=1, max_size=8).map("".join)
HITS = st.lists(st.tuples(TEXTS, st.sampled_from(["a", "b", None]), st.integers(0, 400)), max_size=25)


def _hit(number: int, text: str, thread: str | None = "t", hours: int = 0, name: str | None = "Lin") -> Hit:
    return Hit(
        id=f"{number:04d}", kind="message", text=text, role="user", name=name, thread=thread, user="lin", agent=None,
        topic=None, domain=None, source=None, at=MONDAY + timedelta(hours=hours), score=1.0 / (number + 1),
        parts={"lexical": 1.0 / (number + 1)}, why="shares the words",
    )  # fmt: skip


def _message(number: int, text: str) -> Message:
    return Message(
        id=f"{number:04d}", tenant="default", user="lin", agent=None, thread="now", seq=number, role="user", name=None,
        content=text, at=MONDAY, recorded_at=MONDAY, position=number,
    )  # fmt: skip


def _counters() -> list[Counter]:
    """The estimate and, where the vocabularies are there, exact counts."""
    exact, _ = wiring.embedding.counter(load_settings(dotenv=None, given={"tokens.encoding": "auto"}))
    return [estimate, exact]


@pytest.mark.parametrize("count", _counters())
@given(hits=HITS, said=st.lists(TEXTS, max_size=4), budget=st.integers(0, 300), question=TEXTS)
@settings(max_examples=150, deadline=None)
def test_the_context_never_costs_more_than_the_budget(
    count: Counter, hits: list[tuple[str, str | None, int]], said: list[str], budget: int, question: str
) -> None:
    found = tuple(_hit(number, *hit) for number, hit in enumerate(hits))
    window = [_message(number + 1000, text) for number, text in enumerate(said)]
    query = Query(text=question, budget=budget, timezone="Asia/Shanghai", explain=True)
    context = fit(query, Recalled(hits=found, ranked=len(found)), window, count)
    spent = count(context.text) + sum(count(message.content) + 4 for message in context.messages)
    assert spent <= context.tokens.condensed <= budget
    assert count is estimate or context.tokens.condensed == spent
    assert context.tokens.raw >= context.tokens.condensed
    assert context.explanation is not None
    fates = {verdict.hit.id: verdict.fate for verdict in context.explanation.verdicts}
    assert [id_ for id_, fate in fates.items() if fate == "kept"] == sorted(hit.id for hit in context.items)
    assert len(fates) == len(found)


def test_the_lines_of_a_session_stand_under_one_date_in_the_order_they_were_said() -> None:
    hits = (
        _hit(4, "the disk was full", "tuesday", 24),
        _hit(1, "the backup failed", "monday"),
        _hit(3, "why did it fail?", "tuesday", 24, "Ada"),
        _hit(2, "again", "monday", 0, None),
    )
    context = fit(Query(text="backup"), Recalled(hits=hits), [], estimate)
    assert context.text.splitlines() == [
        "Relevant memories:",
        "2026-11-02 Mon",
        "[1] Lin: the backup failed",
        "[2] user: again",
        "2026-11-03 Tue",
        "[3] Ada: why did it fail?",
        "[4] Lin: the disk was full",
    ]
    assert [citation.id for citation in context.citations] == [hit.id for hit in context.items]
    assert [hit.id for hit in context.raw] == ["0004", "0001", "0003", "0002"]


def test_dates_are_those_of_the_place_where_the_question_is_asked() -> None:
    late = (_hit(1, "晚安", "t", 14),)
    assert "2026-11-02 周一" in fit(Query(text="晚安"), Recalled(hits=late), [], estimate).text
    there = fit(Query(text="晚安", timezone="Asia/Shanghai"), Recalled(hits=late), [], estimate).text
    assert there.splitlines() == ["相关记忆：", "2026-11-03 周二", "[1] Lin: 晚安"]


def test_a_line_that_does_not_fit_makes_room_for_shorter_ones() -> None:
    hits = (_hit(0, "short"), _hit(1, "long " * 100), _hit(2, "brief"))
    context = fit(Query(text="x", budget=60, explain=True), Recalled(hits=hits), [], estimate)
    assert [hit.text for hit in context.items] == ["short", "brief"]
    assert context.explanation is not None
    assert [verdict.fate for verdict in context.explanation.verdicts] == ["kept", "budget", "kept"]
    assert context.tokens.raw > context.tokens.condensed


def test_what_stands_there_already_is_not_repeated() -> None:
    recalled = Recalled(hits=(_hit(7, "seen"), _hit(8, "Twice")), repeated=(_hit(9, "twice"),))
    context = fit(Query(text="x", explain=True), recalled, [_message(7, "seen")], estimate)
    assert [hit.text for hit in context.items] == ["Twice"]
    assert context.explanation is not None
    assert [verdict.fate for verdict in context.explanation.verdicts] == ["window", "kept", "duplicate"]


def test_what_the_floor_silences_is_told_only_in_the_explanation() -> None:
    silenced = Recalled(hits=(), silenced=(_hit(1, "something else"),), ranked=1, relevance=0.1, floor=0.4)
    context = fit(Query(text="x", explain=True), silenced, [], estimate)
    assert (context.raw, context.items, context.text) == ((), (), "")
    assert context.explanation is not None
    assert [verdict.fate for verdict in context.explanation.verdicts] == ["floor"]
    assert (context.explanation.relevance, context.explanation.floor) == (0.1, 0.4)


def test_either_end_of_time_has_a_date() -> None:
    ends = itertools.starmap(_hit, [(1, "first"), (2, "last")])
    first, last = (_replaced(hit, at) for hit, at in zip(ends, (datetime.min, datetime.max), strict=True))
    text = fit(Query(text="x", timezone="Pacific/Kiritimati"), Recalled(hits=(first, last)), [], estimate).text
    assert "0001-01-01" in text
    assert "9999-12-31" in text


def _replaced(hit: Hit, at: datetime) -> Hit:
    return Hit(**{name: getattr(hit, name) for name in Hit.__dataclass_fields__} | {"at": at.replace(tzinfo=UTC)})
