"""The judgement that every fault ends with: it sees what is lost, what is there twice, and what is out of order."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rememberd.model import Message
from rememberd.prove.verdict import NUMBER, Acknowledged, Verdict, judge

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def said(number: int, *, seq: int | None = None, id_: str | None = None) -> Message:
    return Message(
        id=id_ or f"m{number}", tenant="default", thread="t", seq=seq or number, user="lin", agent=None, role="user",
        name="lin", content=f"lin says {number}", at=NOON, recorded_at=NOON, metadata={NUMBER: number}, position=number,
    )  # fmt: skip


ACKNOWLEDGED = [Acknowledged("t", f"m{number}", number, f"lin says {number}") for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        ([said(1), said(2), said(3)], Verdict()),
        ([said(1), said(2), said(3), said(4)], Verdict()),
        ([said(1), said(2)], Verdict(lost=("m3",))),
        ([], Verdict(lost=("m1", "m2", "m3"))),
        ([said(1), said(3, seq=2)], Verdict(lost=("m2", "m3"))),
        ([said(1), said(2), said(3), said(3, seq=4, id_="m9")], Verdict(duplicated=("m9",), disordered=("m9",))),
        ([said(1), said(3, seq=2), said(2, seq=3)], Verdict(lost=("m2", "m3"), disordered=("m2",))),
        ([said(1), said(2, seq=2), said(3, seq=2)], Verdict(lost=("m3",), disordered=("m3",))),
    ],
)
def test_messages_are_judged(record: list[Message], verdict: Verdict) -> None:
    assert judge(ACKNOWLEDGED, {"t": record}) == verdict


def test_a_message_in_another_thread_is_lost() -> None:
    assert judge([Acknowledged("u", "m1", 1, "lin says 1")], {"t": [said(1)]}).lost == ("m1",)


def test_a_spooled_message_may_get_any_sequence_number() -> None:
    assert judge([Acknowledged("t", "m1", None, "lin says 1")], {"t": [said(1)]}) == Verdict()
