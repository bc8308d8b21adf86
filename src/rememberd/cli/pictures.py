"""How the nouns look in a terminal. Chinese is as wide as it is, and nothing that was said can steer the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from rememberd.language.when import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from rich.console import RenderableType

    from rememberd.model import Context, Hit, LaneProgress, MemoryItem, Message

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BAR = 20
_PARTS = {
    "lexical": ("█", "cyan"),
    "vector": ("▓", "magenta"),
    "neighbour": ("▒", "blue"),
    "time": ("▚", "yellow"),
    "recency": ("░", "green"),
}


def said(text: str, style: str = "") -> Text:
    """Someone's words, without the characters that steer a terminal."""
    return Text(_STEERING.sub("�", text), style=style)


def heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def table(*columns: str) -> Table:
    shape = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        shape.add_column(column, overflow="fold")
    return shape


def lane_line(lane: LaneProgress) -> str:
    """How a lane is getting on, in a line."""
    owed = f", {lane.owed:,} texts to go" if lane.owed and lane.state != "kept" else ""
    return f"{lane.state}, model {lane.model}{owed}" + (f" ({lane.problem})" if lane.problem else "")


def messages_table(messages: Iterable[Message]) -> Table:
    shape = table("when", "thread", "seq", "who", "what")
    for message in messages:
        who = message.name or message.role
        shape.add_row(
            moment(message.at), said(message.thread, "dim"), str(message.seq), said(who), said(message.content)
        )
    return shape


def memories_table(items: Iterable[MemoryItem]) -> Table:
    shape = table("id", "rev", "revised", "kind", "text")
    shape.columns[0].no_wrap = True
    for item in items:
        text = said(item.text, "strike" if item.deleted else "")
        shape.add_row(item.id, str(item.revision), moment(item.revised_at), item.kind, text)
    return shape


def hits_table(hits: Sequence[Hit], *, explain: bool) -> Table:
    """Best first; a bar shows the score against the best, and with ``explain`` the reason and its parts."""
    shape = table("score", "", "what")
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    for hit in hits:
        who = hit.name or hit.role or hit.kind
        words = (
            Text(f"{moment(hit.at)} ", style="dim").append_text(said(f"{who}: ", "bold")).append_text(said(hit.text))
        )
        if explain:
            parts = ", ".join(f"{part} {value:.2f}" for part, value in hit.parts.items() if value)
            words.append(f"\n{hit.why} ({parts})", style="dim")
        shape.add_row(f"{hit.score:.2f}", bar(hit, best), words)
    return shape


def bar(hit: Hit, best: float) -> Text:
    """A score as a bar, each of its parts in its own shade."""
    picture, reached = Text(), 0.0
    for part, value in hit.parts.items():
        shade, colour = _PARTS.get(part, ("▒", "yellow"))
        begun = round(_BAR * reached / best)
        reached += value
        picture.append(shade * (round(_BAR * reached / best) - begun), style=colour)
    picture.pad_right(_BAR - len(picture))
    return picture


def recalled(context: Context, *, explain: bool, timezone: str | None = None) -> list[RenderableType]:
    """The hits and, with ``explain``, the context made of them and what it costs."""
    hits: RenderableType = hits_table(context.raw, explain=explain) if context.raw else Text("Nothing found.", "dim")
    if context.narrowed is not None:
        narrowed = context.narrowed
        kept = f"only what was said in the time asked for: {narrowed.words} ("
        hits = Group(said(f"{kept}{shown(narrowed.since, narrowed.until, timezone or 'UTC')})", "dim"), hits)
    if not explain:
        return [hits]
    tokens = context.tokens
    cost = Text(f"\ntokens: {tokens.raw:,} raw → {tokens.condensed:,} fitted, of a budget of {tokens.budget:,}", "dim")
    return [hits, *([Text(), said(context.text)] if context.text else []), cost, legend(context.raw)]


def legend(hits: Iterable[Hit]) -> Text:
    """What the shades of the bars mean, for those that appear."""
    used = {part for hit in hits for part, value in hit.parts.items() if value}
    words = Text()
    for part, (shade, colour) in _PARTS.items():
        if part in used:
            words.append(f"{shade} ", style=colour).append(f"{part}  ", style="dim")
    return words
