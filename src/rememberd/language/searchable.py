"""What of a message can be searched: its words with date and speaker, its meaning with the speaker."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from .segment import has_han, words_of
from .when import resolve

if TYPE_CHECKING:
    from datetime import datetime

    from .when import Span

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip


#: One of these stands in every expression whose date is not told by its own words.
_TELLING = ("yesterday", "tomorrow", " ago", "last ", "next ", "past ", "previous ")
_LONGEST = 4000  # characters; longer texts are documents, whose times are not those of their writer


def worded(text: str, name: str | None, at: datetime) -> str:
    """The text whose words are indexed: with the date it was said, and the dates that its own times mean, seen from
    then. Dates help where people ask for them in words, which is not in Chinese."""
    said = spoken(text, name)
    if has_han(text):
        return said
    folded = text.lower()
    telling = len(text) <= _LONGEST and any(word in folded for word in _TELLING)
    meant = "".join(_date_words(span) for span in resolve(text, at)) if telling else ""
    return f"{at.date()} {_day_words(at)} {said}{meant}"


def _date_words(span: Span) -> str:
    """ " 7 may 2023" for a day, or a weekend; " may 2023" up to a month, " 2023" up to a year."""
    if span.since is None or span.until is None or spells_a_date(span.words):
        return ""
    length, at = span.until - span.since, span.since
    if length <= timedelta(days=2):
        return f" {_day_words(at)}"
    return f" {_MONTHS[at.month - 1]} {at.year}" if length <= timedelta(days=31) else f" {at.year}"


def _day_words(at: datetime) -> str:
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def spells_a_date(words: str) -> bool:
    """Whether the words for a time stand in what ``worded`` writes of it: a day or a year in figures, or a month."""
    return not has_han(words) and any(word.isdecimal() or word in _MONTHS for word in words_of(words))


def spoken(text: str, name: str | None) -> str:
    """The text that is embedded: with who said it, where that is known."""
    return f"{name}: {text}" if name else text
