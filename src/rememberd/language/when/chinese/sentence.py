"""Times in a Chinese sentence: what stands behind a date narrows it, bounds it, or joins it with another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rememberd.language.when.calendar import Range, clock_time, part_of_day
from rememberd.language.when.found import Found, connected, longest

from .dates import DATES
from .relative import RELATIVE
from .words import BEFORE, NUMBER, PARTS_OF_DAY, TO, number_of

if TYPE_CHECKING:
    from rememberd.language.when.calendar import Calendar

_TRIGGER = re.compile("[年月天日周期拜前近昨今明]")
_PART = re.compile(rf"的?(?P<part>{'|'.join(sorted(PARTS_OF_DAY, key=len, reverse=True))})(?![饭餐])")
_CLOCK = re.compile(
    rf"的?(?:(?P<hour>{NUMBER})(?:点钟?|时(?!候))(?P<minute>半|一刻|三刻|[0-5]?\d分?|{NUMBER}分)?"
    r"|(?P<digits>[01]?\d|2[0-3])[:：](?P<minutes>[0-5]\d))"
)
_LINK = re.compile(TO)
_AND = re.compile(r"\s*[和与跟]\s*")
_SINCE = re.compile("以来|至今|到现在|起(?![床来身])|开始")
_AFTER = re.compile("之后|以后|过后")
_UP_TO = re.compile(f"之前|以前|{BEFORE}")


def chinese_times(text: str, calendar: Calendar) -> list[Found]:
    """What a text, in simplified characters, says of time, in order."""
    if not _TRIGGER.search(text):
        return []
    dates = longest([*DATES.find(text, calendar), *RELATIVE.find(text, calendar)])
    narrowed = [_narrowed(text, found) for found in dates]
    return [_bounded(text, found) for found in connected(narrowed, calendar, lambda a, b: _are_linked(text, a, b))]


def _narrowed(text: str, found: Found) -> Found:
    """昨天下午, 昨天下午三点: a part of a day, an hour, or a minute."""
    day = found.range
    if not day.is_day:
        return found
    part = _PART.match(text, found.end)
    name = PARTS_OF_DAY[part["part"]] if part is not None else None
    if part is not None and name is not None:
        found = Found(found.start, part.end(), part_of_day(day, name))
    clock = _CLOCK.match(text, found.end)
    if clock is None or (hour := _hour(number_of(clock["hour"] or clock["digits"]), name)) is None:
        return found
    return Found(found.start, clock.end(), clock_time(day, hour, _minute(clock["minute"] or clock["minutes"])))


def _hour(hour: int, part: str | None) -> int | None:
    """下午三点 is 15, 晚上八点 20; 晚上十二点 and 一点 are those of the night. None if there is no such hour."""
    if hour > 24:
        return None
    if part == "night" and (hour == 12 or hour < 6):
        return 24 + hour % 12
    if part == "noon":
        return hour if hour > 10 else hour + 12
    return hour + 12 if part in ("afternoon", "evening", "night") and hour < 12 else hour


def _minute(words: str | None) -> int | None:
    fixed = {"半": 30, "一刻": 15, "三刻": 45}
    return None if words is None else fixed[words] if words in fixed else number_of(words.removesuffix("分"))


def _are_linked(text: str, before: Found, found: Found) -> bool:
    """五月到七月, 五月和七月之间."""
    between = text[before.end : found.start]
    return bool(_LINK.fullmatch(between) or (_AND.fullmatch(between) and text.startswith("之间", found.end)))


def _bounded(text: str, found: Found) -> Found:
    """五月以来, 自从五月: from its beginning on; 五月以后: from its end on; 五月以前: up to its beginning."""
    since, until = found.range.since, found.range.until
    for pattern, means in ((_SINCE, Range(since, None)), (_AFTER, Range(until, None)), (_UP_TO, Range(None, since))):
        behind = pattern.match(text, found.end)
        if behind is not None:
            return Found(found.start, behind.end(), means)
    return Found(found.start, found.end, Range(since, None)) if text[: found.start].endswith("自从") else found
