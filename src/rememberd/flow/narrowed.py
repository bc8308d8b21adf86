"""Telling to which time a question was narrowed, most of all when nothing was found there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd.language.segment import has_han
from rememberd.language.when import shown

if TYPE_CHECKING:
    from rememberd.language.tokens import Counter
    from rememberd.model import Context, Narrowed, Query


def tell_narrowed(context: Context, narrowed: Narrowed | None, query: Query, count: Counter) -> Context:
    """The context with its time. If nothing was found, its text says so: recall is never widened behind one's back."""
    if narrowed is None:
        return context
    context = replace(context, narrowed=narrowed)
    if context.raw or context.items:
        return context
    range_ = shown(narrowed.since, narrowed.until, query.timezone or "UTC")
    chinese = has_han(query.text)
    text = (
        f"没有找到“{narrowed.words}”（{range_}）说过的内容。"
        if chinese
        else (f"Nothing was found that was said in the time asked for: {narrowed.words} ({range_}).")
    )
    tokens = context.tokens
    spent = tokens.condensed + count(text)
    if spent > tokens.budget:
        return context
    return replace(context, text=text, tokens=replace(tokens, condensed=spent))
