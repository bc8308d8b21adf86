"""From a text, a moment and a place to the ranges of time that the text speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from rememberd.language.han import simplified

from .calendar import Calendar
from .chinese import chinese_times
from .english import english_times


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open range [since, until) in UTC that ``words`` mean, which stand at ``start`` in the text.

    None is an open end: "since March" ends nowhere, "before May" begins nowhere.
    """

    since: datetime | None
    until: datetime | None
    words: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.words)


def resolve(text: str, moment: datetime, zone: str = "UTC") -> tuple[Span, ...]:
    """What a text says of time, in the order it stands there, as seen from ``moment`` in ``zone``."""
    calendar = Calendar(moment, _zone(zone))
    found = chinese_times(simplified(text), calendar)
    taken = [(each.start, each.end) for each in found]
    found += [
        each
        for each in english_times(text, calendar)
        if all(each.end <= start or end <= each.start for start, end in taken)
    ]
    return tuple(
        Span(calendar.utc(each.range.since), calendar.utc(each.range.until), text[each.start : each.end], each.start)
        for each in sorted(found, key=lambda each: each.start)
    )


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)
