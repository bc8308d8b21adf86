"""Fitting: from a ranking and a window to a context inside the token budget, with citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.language.segment import has_han
from rememberd.model import Citation, Context, Hit, Tokens, WindowMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.language.tokens import Counter
    from rememberd.model import Message, Query

_WINDOW_SHARE = 0.5
_PER_MESSAGE = 4  # what a chat message costs besides its content
_HEADINGS = {True: "相关记忆：", False: "Relevant memories:"}


def fit(
    query: Query,
    ranking: Sequence[Hit],
    window: Sequence[Message],
    count: Counter,
    degraded: tuple[str, ...] = (),
) -> Context:
    """The newest of the window in up to half of the budget, the best of the ranking in the rest.

    What stands in the window already is not repeated. A line that does not fit is left out; shorter ones may follow.
    """
    kept, spent = _newest(window, int(query.budget * _WINDOW_SHARE), count)
    shown = {message.id for message in kept}
    heading = _HEADINGS[has_han(query.text)]
    lines, cited, citations = [heading], list[Hit](), list[Citation]()
    used = spent + count(heading)
    for hit in ranking:
        if hit.id in shown:
            continue
        line = _line(len(cited) + 1, hit)
        cost = count(line) + 1
        if used + cost > query.budget:
            continue
        lines.append(line)
        citations.append(Citation(len(cited) + 1, hit.id, hit.kind, hit.thread, hit.at))
        cited.append(hit)
        used += cost
    text = "\n".join(lines) if cited else ""
    raw = sum(_cost(message, count) for message in window)
    if ranking:
        raw += count(heading) + sum(count(_line(i, hit)) + 1 for i, hit in enumerate(ranking, 1))
    return Context(
        text=text,
        items=tuple(cited),
        raw=tuple(ranking[: query.k]),
        citations=tuple(citations),
        messages=tuple(WindowMessage(message.role, message.content, message.name) for message in kept),
        tokens=Tokens(raw=raw, condensed=used if cited else spent, budget=query.budget),
        degraded=degraded,
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


def _line(number: int, hit: Hit) -> str:
    who = hit.name or hit.role or hit.kind
    return f"[{number}] {hit.at:%Y-%m-%d} {who}: {' '.join(hit.text.split())}"
