"""From a text, a moment and a place to the ranges of time that the text speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from rememberd.language.han import simplified

from .calendar import Calendar
from .chinese import chinese_times
from .english import english_times

if TYPE_CHECKING:
    from .found import Found


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

    def holds(self, moment: datetime) -> bool:
        return (self.since is None or self.since <= moment) and (self.until is None or moment < self.until)


def shown(since: datetime | None, until: datetime | None, zone: str = "UTC") -> str:
    """A range for people, in the wall time of a zone: 2026-11-10; 2026-11-09 to 2026-11-15; from 2026-11-09 18:00 …"""
    first, last = (None if end is None else end.astimezone(_zone(zone)).replace(tzinfo=None) for end in (since, until))
    ends = [end for end in (first, last) if end is not None]
    by_days = all(end.time() == time() for end in ends)
    if by_days and last is not None:
        last -= timedelta(days=1)
    begun, ended = (
        None if end is None else f"{end:%Y-%m-%d}" if by_days else f"{end:%Y-%m-%d %H:%M}" for end in (first, last)
    )
    if begun is None or ended is None:
        return f"from {begun}" if begun else f"up to {ended}"
    return begun if begun == ended else f"{begun} to {ended}"


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
    return tuple(_span(text, each, calendar) for each in sorted(found, key=lambda each: each.start))


def _span(text: str, found: Found, calendar: Calendar) -> Span:
    since, until = (None if end is None else calendar.moment_of(end) for end in (found.range.since, found.range.until))
    return Span(since, until, text[found.start : found.end], found.start)


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)
