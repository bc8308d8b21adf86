"""The times that a question speaks of: those it keeps recall to, and those it only leans to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from rememberd.language.searchable import spells_a_date
from rememberd.language.when import Span, asks_when_said, besides, resolve
from rememberd.model import Filters, Narrowed, Query

if TYPE_CHECKING:
    from datetime import datetime

_LONGEST = 500  # characters; a longer text is material more than a question, and its dates are not what is asked for


class InTime(NamedTuple):
    """A query as it is to be asked, the text to look for, the times it speaks of, and the one it is narrowed to."""

    query: Query
    text: str
    spans: tuple[Span, ...] = ()
    narrowed: Narrowed | None = None


def in_time(query: Query, now: datetime) -> InTime:
    """A question for what was said at a time is narrowed to it, and looks for the rest of its words; any other question
    keeps all of its words, and leans to the times it speaks of, if their words cannot be found by themselves."""
    if len(query.text) > _LONGEST:
        return InTime(query, query.text)
    spans = resolve(query.text, now, query.timezone or "UTC")
    said = next((span for span in spans if _has_begun(span, now) and asks_when_said(query.text, span)), None)
    if said is None:
        return InTime(query, query.text, tuple(span for span in spans if not spells_a_date(span.words)))
    return InTime(
        replace(query, filters=_kept_to(query, said)),
        besides(query.text, said),
        (said,),
        Narrowed(words=said.words, since=said.since, until=said.until),
    )


def _has_begun(span: Span, now: datetime) -> bool:
    return span.since is None or span.since <= now


def _kept_to(query: Query, span: Span) -> Filters:
    """The filters of the query, and the time besides: whichever is narrower."""
    filters = query.filters
    after = max((moment for moment in (filters.after, span.since) if moment is not None), default=None)
    before = min((moment for moment in (filters.before, span.until) if moment is not None), default=None)
    return replace(filters, after=after, before=before)
