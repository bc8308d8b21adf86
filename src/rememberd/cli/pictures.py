"""How the nouns look in a terminal. Chinese is as wide as it is, and nothing that was said can steer the terminal."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from rememberd.language.when import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from rich.console import RenderableType

    from rememberd.model import Context, Explanation, Hit, LaneProgress, MemoryItem, Message, Verdict

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BAR = 20
_PARTS = {
    "lexical": ("█", "cyan"),
    "vector": ("▓", "magenta"),
    "neighbour": ("▒", "blue"),
    "time": ("▚", "yellow"),
    "recency": ("░", "green"),
}
_FATES = {
    "window": "in the window already",
    "duplicate": "said in another line",
    "budget": "does not fit the budget",
    "floor": "below the floor",
}
_DROPPED = 10


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


def hits_table(hits: Sequence[Hit]) -> Table:
    """Best first; a bar shows the score against the best."""
    shape = table("score", "", "what")
    best = _best(hits)
    for hit in hits:
        shape.add_row(f"{hit.score:.2f}", bar(hit, best), _words(hit))
    return shape


def verdicts_table(verdicts: Sequence[Verdict], marks: dict[str, int], best: float) -> Table:
    """Hits with what became of them, the reason for each, and the parts of its score."""
    shape = table("score", "", "in the context", "what")
    for verdict in verdicts:
        hit = verdict.hit
        fate = f"[{marks[hit.id]}]" if verdict.fate == "kept" else f"no: {_FATES[verdict.fate]}"
        parts = ", ".join(f"{part} {value:.2f}" for part, value in hit.parts.items() if value)
        words = _words(hit).append(f"\n{hit.why} ({parts})", style="dim")
        shape.add_row(f"{hit.score:.2f}", bar(hit, best), f"{fate}, {verdict.tokens} tokens", words)
    return shape


def _words(hit: Hit) -> Text:
    who = hit.name or hit.role or hit.kind
    return Text(f"{moment(hit.at)} ", style="dim").append_text(said(f"{who}: ", "bold")).append_text(said(hit.text))


def _best(hits: Iterable[Hit]) -> float:
    return max((hit.score for hit in hits), default=0.0) or 1.0


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


def recalled(context: Context, *, timezone: str | None = None) -> list[RenderableType]:
    """The hits; if the context explains itself, what became of them, the text made of them and what it costs."""
    told: list[RenderableType] = []
    if context.narrowed is not None:
        narrowed = context.narrowed
        kept = f"only what was said in the time asked for: {narrowed.words} ("
        told.append(said(f"{kept}{shown(narrowed.since, narrowed.until, timezone or 'UTC')})", "dim"))
    if context.explanation is not None:
        return told + _explained(context, context.explanation)
    return [*told, hits_table(context.raw) if context.raw else Text("Nothing found.", style="dim")]


def _explained(context: Context, explanation: Explanation) -> list[RenderableType]:
    verdicts, tokens = explanation.verdicts, context.tokens
    kept = {verdict.hit.id for verdict in verdicts if verdict.fate == "kept"}
    dropped = [verdict for verdict in verdicts if verdict.hit.id not in kept]
    marks = {citation.id: citation.number for citation in context.citations}
    best = _best(verdict.hit for verdict in verdicts)
    told: list[RenderableType] = []
    if not verdicts:
        told.append(Text("Nothing found.", style="dim"))
    if kept:
        told += [Text("Kept", "bold"), verdicts_table([v for v in verdicts if v.hit.id in kept], marks, best)]
    if dropped:
        told += [Text("Dropped", "bold"), verdicts_table(dropped[:_DROPPED], marks, best)]
    told.append(legend(verdict.hit for verdict in verdicts))
    if context.text:
        told += [Text(), said(context.text)]
    told.append(Text(f"\n{_summary(explanation)}", style="dim"))
    cost = f"tokens: {tokens.raw:,} raw → {tokens.condensed:,} fitted, of a budget of {tokens.budget:,}"
    return [*told, Text(cost, style="dim")]


def _summary(explanation: Explanation) -> str:
    """How many hits were kept, and how many were dropped for which reason."""
    fates = Counter(verdict.fate for verdict in explanation.verdicts)
    told = [f"{explanation.ranked:,} ranked", f"{fates.pop('kept', 0):,} kept"]
    told += [f"{number:,} {_FATES[fate]}" for fate, number in fates.items()]
    unread = explanation.ranked - len(explanation.verdicts)
    if unread > 0:
        told.append(f"{unread:,} beyond the limit")
    return f"{', '.join(told)}; relevance {explanation.relevance:.2f}, floor {explanation.floor:.2f}"


def legend(hits: Iterable[Hit]) -> Text:
    """What the shades of the bars mean, for those that appear."""
    used = {part for hit in hits for part, value in hit.parts.items() if value}
    words = Text()
    for part, (shade, colour) in _PARTS.items():
        if part in used:
            words.append(f"{shade} ", style=colour).append(f"{part}  ", style="dim")
    return words
