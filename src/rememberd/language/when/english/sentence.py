"""Times in an English sentence: what stands around a date narrows it, bounds it, or joins it with another."""

from __future__ import annotations

import re
from itertools import zip_longest

from rememberd.language.when.calendar import DAY, Calendar, Range, clock_time, of_days, part_of_day
from rememberd.language.when.found import Found, connected, longest, tokens_of

from .dates import DATES
from .relative import RELATIVE
from .words import NUMBER, WEEKDAY, number_of, weekday_of


def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.IGNORECASE)


_CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))?\s*(?P<half>[ap]\.?m\b\.?)?"
_PART_BEHIND = _pattern(r",?\s+(?:in\s+the\s+)?(?P<part>morning|afternoon|evening|night)\b")
_CLOCK_BEHIND = _pattern(rf",?\s+(?:at|around)\s+{_CLOCK}")
_PART_BEFORE = _pattern(r"\b(?P<part>morning|afternoon|evening|night)\s+of\s+(?:the\s+)?$")
_CLOCK_BEFORE = _pattern(rf"\bat\s+{_CLOCK}\s+(?:on\s+)?$")
_OPENING = _pattern(r"\b(?:from|between)\s+(?:the\s+)?$")
_BOUND = _pattern(r"\b(?P<bound>since|after|before|until|till)\s+(?:(?:on|in|the)\s+)?$")
_APART = _pattern(
    rf"\b(?:(?P<number>the|{NUMBER})\s+(?P<unit>day|week|month|year)s?|the\s+(?P<weekday>{WEEKDAY}))"
    r"\s+(?P<bound>before|after)\s+(?:the\s+)?$"
)
_LOOK_BACK = 40  # characters before an expression that may belong to it


def english_times(text: str, calendar: Calendar) -> list[Found]:
    """What a text says of time, in order."""
    tokens = tokens_of(text)
    dates = longest([*DATES.find(text, calendar, tokens), *RELATIVE.find(text, calendar, tokens)])
    if not dates:
        return []
    narrowed = [_at_a_time(text, _in_a_part(text, found)) for found in dates]
    joined = connected(narrowed, calendar, lambda a, b: _are_linked(text, a, b))
    apart = [_apart(text, found, calendar) or _bounded(text, found) for found in joined]
    return [found for found, later in zip_longest(apart, apart[1:]) if later is None or found.end <= later.start]


def _before(text: str, found: Found, pattern: re.Pattern[str]) -> re.Match[str] | None:
    return pattern.search(text, max(0, found.start - _LOOK_BACK), found.start)


def _in_a_part(text: str, found: Found) -> Found:
    """yesterday morning, on the evening of 3 May."""
    if not found.range.is_day:
        return found
    behind, before = _PART_BEHIND.match(text, found.end), _before(text, found, _PART_BEFORE)
    if behind is not None:
        return Found(found.start, behind.end(), part_of_day(found.range, behind["part"].lower()))
    if before is not None:
        return Found(before.start(), found.end, part_of_day(found.range, before["part"].lower()))
    return found


def _at_a_time(text: str, found: Found) -> Found:
    """on 3 May at 3 pm, at 15:30 on 3 May: an hour of a day, or a minute."""
    behind, before = _CLOCK_BEHIND.match(text, found.end), _before(text, found, _CLOCK_BEFORE)
    for clock in (behind, before) if found.range.is_day else ():
        if clock is not None and (hour := _hour(clock)) is not None:
            means = clock_time(found.range, hour, int(clock["minute"]) if clock["minute"] else None)
            return Found(min(found.start, clock.start()), max(found.end, clock.end()), means)
    return found


def _hour(clock: re.Match[str]) -> int | None:
    """3 pm is 15, 12 am is 0; a bare number is no time."""
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()[:1]
    if half and hour <= 12:
        return hour % 12 + (12 if half == "p" else 0)
    return hour if clock["minute"] and hour < 24 else None


def _are_linked(text: str, before: Found, found: Found) -> bool:
    """from Monday to yesterday, between 3 May and 2 June."""
    between = text[before.end : found.start].strip().lower().removesuffix(" the")
    opened = _before(text, before, _OPENING) is not None
    return between in ("-", "–", "—") or (opened and between in ("and", "to", "until", "till", "through"))


def _apart(text: str, found: Found, calendar: Calendar) -> Found | None:
    """two weeks before 11 August, the Friday after 3 May: as if said on that day; the week before it is seven days."""
    apart, day = _before(text, found, _APART), found.range.since
    if apart is None or day is None or not found.range.is_day:
        return None
    there, ahead = Calendar(calendar.moment_of(day), calendar.zone), apart["bound"].lower() == "after"
    if apart["weekday"]:
        number = weekday_of(apart["weekday"].lower())
        means = there.coming_weekday(number) if ahead else there.latest_weekday(number, before_today=True)
    elif apart["number"].lower() == "the" and apart["unit"].lower() == "week":
        means = of_days(day.date() + (DAY if ahead else -7 * DAY), 7)
    else:
        number = 1 if apart["number"].lower() == "the" else number_of(apart["number"].lower())
        back = there.ago(-number if ahead else number, apart["unit"].lower())
        if back is None:
            return None
        means = back
    return Found(apart.start(), found.end, means)


def _bounded(text: str, found: Found) -> Found:
    """since May: from its beginning on; after May: from its end on; before May: up to its beginning; until May: to its
    end."""
    bound = _before(text, found, _BOUND)
    if bound is None:
        return found
    since, until = found.range.since, found.range.until
    means = {"since": Range(since, None), "after": Range(until, None), "before": Range(None, since)}
    return Found(bound.start(), found.end, means.get(bound["bound"].lower(), Range(None, until)))
