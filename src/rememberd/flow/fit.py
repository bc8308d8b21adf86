"""Fitting: from a ranking and a window to a context inside the token budget, with citations.

The text tells things in the order in which they happened: what was said in one session stands under one heading, its
date, however good or bad each line is by itself.

Tokens are counted piece by piece, where no vocabulary joins what stands on both sides: after a line's end, and before
the space behind a colon. So the pieces add up, and a text that is recalled again need not be counted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import groupby
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from rememberd.language.segment import has_han
from rememberd.model import Citation, Context, Explanation, Fate, Hit, Tokens, Verdict, WindowMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rememberd.language.tokens import Counter
    from rememberd.model import Message, Query
    from rememberd.ports.parts import Recalled

_WINDOW_SHARE = 0.5
_PER_MESSAGE = 4  # what a chat message costs besides its content
_TITLES = {True: "相关记忆：", False: "Relevant memories:"}  # by whether the question is in Chinese
_WEEKDAYS = {
    True: ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    False: ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A hit as the text may show it: in a session, under its heading; and what it costs."""

    hit: Hit
    heading: str
    tokens: int
    fate: Fate = "budget"

    @property
    def session(self) -> tuple[str, str | None]:
        return self.heading, self.hit.thread


def fit(
    query: Query, recalled: Recalled, window: Sequence[Message], count: Counter, degraded: tuple[str, ...] = ()
) -> Context:
    """The newest of the window in up to half of the budget, the best of the ranking in the rest.

    What stands in the window already is not repeated. A line that does not fit is left out;
    shorter ones may follow. The text never costs more than what the window leaves of the budget. Who has no budget
    wants the ranking alone: no line is counted.
    """
    whole = sum(_cost(message, count) for message in window)
    if not query.budget and not query.explain:
        return Context(raw=recalled.hits[: query.k], tokens=Tokens(whole, 0, 0), degraded=degraded)
    kept, spent = _newest(window, int(query.budget * _WINDOW_SHARE), count)
    found = _lines(query, recalled.hits, count)
    chinese = has_han(query.text)
    lines = _choose(found, {message.id for message in kept}, query.budget - spent, count, chinese=chinese)
    told = _in_order(line for line in lines if line.fate == "kept")
    return Context(
        text=_text(told, chinese=chinese),
        items=tuple(line.hit for line in told),
        raw=recalled.hits[: query.k],
        citations=tuple(
            Citation(number, line.hit.id, line.hit.kind, line.hit.thread, line.hit.at)
            for number, line in enumerate(told, 1)
        ),
        messages=tuple(WindowMessage(message.role, message.content, message.name) for message in kept),
        tokens=Tokens(
            raw=whole + _told_cost(_in_order(found), count, chinese=chinese),
            condensed=spent + _told_cost(told, count, chinese=chinese),
            budget=query.budget,
        ),
        degraded=degraded,
        explanation=_explained(query, recalled, lines, count) if query.explain else None,
    )


def _lines(query: Query, hits: Iterable[Hit], count: Counter) -> list[_Line]:
    zone = ZoneInfo(query.timezone) if query.timezone else UTC
    weekdays = _WEEKDAYS[has_han(query.text)]
    lines = []
    for number, hit in enumerate(hits, 1):
        at = _local(hit.at, zone)
        tokens = count(_says(number, hit)) + count(f"{_said(hit)}\n")
        lines.append(_Line(hit, f"{at.date()} {weekdays[at.weekday()]}", tokens))
    return lines


def _choose(lines: Sequence[_Line], shown: set[str], budget: int, count: Counter, *, chinese: bool) -> list[_Line]:
    """The lines with their fates: the best are kept while there is room, for the heading of their session too."""
    chosen: list[_Line] = []
    headed: set[tuple[str, str | None]] = set()
    used = count(f"{_TITLES[chinese]}\n")
    for line in lines:
        cost = line.tokens + (0 if line.session in headed else count(f"{line.heading}\n"))
        if line.hit.id in shown:
            fate: Fate = "window"
        elif used + cost > budget:
            fate = "budget"
        else:
            fate = "kept"
            used += cost
            headed.add(line.session)
        chosen.append(replace(line, fate=fate))
    return chosen


def _in_order(lines: Iterable[_Line]) -> list[_Line]:
    """Session by session, each in the order in which it was said."""
    said = sorted(lines, key=lambda line: (line.hit.at, line.hit.id))
    first: dict[tuple[str, str | None], int] = {}
    for place, line in enumerate(said):
        first.setdefault(line.session, place)
    return sorted(said, key=lambda line: first[line.session])


def _text(told: Sequence[_Line], *, chinese: bool) -> str:
    if not told:
        return ""
    text, number = [_TITLES[chinese]], 0
    for (heading, _), said in groupby(told, key=lambda line: line.session):
        text.append(heading)
        for line in said:
            number += 1
            text.append(_says(number, line.hit) + _said(line.hit))
    return "\n".join(text)


def _told_cost(lines: Sequence[_Line], count: Counter, *, chinese: bool) -> int:
    """What the text of these lines costs. Behind the last there is no end of a line."""
    if not lines:
        return 0
    headings = {line.session for line in lines}
    last = _said(lines[-1].hit)
    return (
        count(f"{_TITLES[chinese]}\n")
        + sum(count(f"{heading}\n") for heading, _ in headings)
        + sum(line.tokens for line in lines)
        + count(last)
        - count(f"{last}\n")
    )


def _explained(query: Query, recalled: Recalled, lines: Sequence[_Line], count: Counter) -> Explanation:
    repeated = [replace(line, fate="duplicate") for line in _lines(query, recalled.repeated, count)]
    silenced = [replace(line, fate="floor") for line in _lines(query, recalled.silenced, count)]
    return Explanation(
        ranked=recalled.ranked,
        relevance=recalled.relevance,
        floor=recalled.floor,
        verdicts=tuple(Verdict(line.hit, line.fate, line.tokens) for line in (*lines, *repeated, *silenced)),
    )


def _newest(window: Sequence[Message], budget: int, count: Counter) -> tuple[list[Message], int]:
    kept: list[Message] = []
    spent = 0
    for message in reversed(window):
        cost = _cost(message, count)
        if spent + cost > budget:
            break
        kept.append(message)
        spent += cost
    return kept[::-1], spent


def _cost(message: Message, count: Counter) -> int:
    return count(message.content) + _PER_MESSAGE


def _says(number: int, hit: Hit) -> str:
    return f"[{number}] {hit.name or hit.role or hit.kind}:"


def _said(hit: Hit) -> str:
    return f" {' '.join(hit.text.split())}"


def _local(at: datetime, zone: tzinfo) -> datetime:
    try:
        return at.astimezone(zone)
    except OverflowError:  # at either end of time
        return at
