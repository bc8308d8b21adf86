"""What of a message can be searched: its words with date and speaker, its meaning with the speaker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .segment import has_han, words_of

if TYPE_CHECKING:
    from datetime import datetime

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip


def worded(text: str, name: str | None, at: datetime) -> str:
    """The text whose words are indexed. The date helps where people ask for it in words, which is not in Chinese."""
    said = spoken(text, name)
    return said if has_han(text) else f"{at:%Y-%m-%d} {at.day} {_MONTHS[at.month - 1]} {at.year} {said}"


def spells_a_date(words: str) -> bool:
    """Whether the words for a time stand in what ``worded`` writes of it: a day or a year in figures, or a month."""
    return not has_han(words) and any(word.isdecimal() or word in _MONTHS for word in words_of(words))


def spoken(text: str, name: str | None) -> str:
    """The text that is embedded: with who said it, where that is known."""
    return f"{name}: {text}" if name else text
