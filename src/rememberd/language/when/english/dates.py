"""Dates by the calendar: days, months, years and seasons by name. Without a year, the latest that has begun."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rememberd.language.when.calendar import Range, months_of, of_days, of_years, part_of_month
from rememberd.language.when.found import Rules, joined

from .words import (
    CLEAR_MONTH,
    DAY,
    MONTH,
    MONTHS,
    OF,
    PLAIN_MONTH,
    SEASON,
    SEASONS,
    TH,
    THIRDS,
    TO,
    WHICH,
    YEAR,
    month_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rememberd.language.when.calendar import Calendar

DATES = Rules(re.IGNORECASE)

_BEFORE_MONTH = "in during since before after until till by from around of throughout for between and to"
_BEFORE_YEAR = "in during since before after until till from throughout around year"
_LAST_DAY = rf"(?:{TO}(?P<last>{DAY}){TH}?(?!\d))?"
_IN_YEAR = rf",?{OF}(?P<year>{YEAR})"
_MONTHS_OF_YEAR = {"beginning": (1, 2), "start": (1, 2), "middle": (6, 2), "end": (11, 2)}
_ORDINALS = ("first", "second", "third", "fourth")


@DATES.means(
    rf"(?<![\d./-])(?P<year>(?:19|20)\d\d)(?P<mark>[-/])(?P<month>1[0-2]|0?[1-9])(?P=mark)(?P<day>{DAY})(?![\d/-])"
    r"(?:[T\s](?P<hour>[0-2]\d):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?P<zone>Z|[+-][01]\d:?[0-5]\d)?)?",
    begins="0",
)
def _iso_day(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """2023-05-03, 2023/5/3: that day; with a time, that minute, in the zone that stands there or in the asker's."""
    day = calendar.named_day(int(words["month"]), int(words["day"]), int(words["year"]))
    if day is None or day.since is None or "hour" not in words:
        return day
    if int(words["hour"]) > 23:
        return None
    since = day.since + timedelta(hours=int(words["hour"]), minutes=int(words["minute"]))
    if "zone" in words:
        zone = words["zone"].replace("z", "+00:00")
        since = calendar.wall(datetime.fromisoformat(f"{since.isoformat()}{zone}"))
    return Range(since, since + timedelta(minutes=1))


@DATES.means(r"(?<![\d./-])(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?![\d/-])", begins="0")
def _iso_month(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """2023-05: that month."""
    return calendar.named_month(int(words["month"]), int(words["year"]))


@DATES.means(
    rf"\b(?:the\s+)?(?P<day>{DAY}){TH}?(?:(?:{TO}|\s+and\s+)(?P<last>{DAY}){TH}?)?{OF}(?P<month>{CLEAR_MONTH})(?:{_IN_YEAR})?",
    rf"\b(?P<day>{DAY})(?:{TH}{OF}|\s+of\s+)(?P<month>{MONTH})(?:{_IN_YEAR})?",
    rf"\b(?P<day>{DAY})\s+(?P<month>{MONTH}){_IN_YEAR}",
    begins="0 the",
)
@DATES.means(
    rf"\b(?P<month>{CLEAR_MONTH})\s+(?P<day>{DAY})(?![\d:%]|\.\d|\s+(?!(?:at|in|on|was|is|and|or|to|the|for|with|when)\b)[a-z]){_LAST_DAY}(?:{_IN_YEAR})?",
    rf"\b(?P<month>{MONTH})\s+(?:the\s+)?(?P<day>{DAY}){TH}{_LAST_DAY}(?:{_IN_YEAR})?",
    rf"\b(?P<month>{MONTH})\s+(?P<day>{DAY}){_LAST_DAY}{_IN_YEAR}",
    begins=MONTHS,
)
def _day(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """3 May, May 3rd, 2023, May 3-5."""
    month, year = month_of(words["month"]), int(words["year"]) if "year" in words else None
    first = calendar.named_day(month, int(words["day"]), year)
    if first is None or first.since is None or "last" not in words:
        return first
    last = calendar.named_day(month, int(words["last"]), first.since.year)
    return Range(first.since, last.until) if last is not None else None


@DATES.means(
    rf"\b(?:(?P<third>early|mid|late)[\s-]+)?(?P<month>{MONTH}){_IN_YEAR}",
    rf"\b(?P<month>{PLAIN_MONTH})(?!\s+\d)",
    rf"\b(?P<third>early|mid|late)[\s-]+(?P<month>{MONTH})(?!\s+\d)",
    begins=f"{MONTHS} early mid late",
)
@DATES.means(
    rf"\b(?:{_BEFORE_MONTH.replace(' ', '|')})\s+(?P<it>(?P<month>{CLEAR_MONTH}))(?!\s+\d)",
    rf"\b(?:in|since)\s+(?P<it>(?P<month>{MONTH}))(?!\s+(?:\d|be\b|have\b))",
    begins=_BEFORE_MONTH,
)
def _month(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """May 2023, in May, early May. Early, mid and late are ten days each."""
    month = calendar.named_month(month_of(words["month"]), int(words["year"]) if "year" in words else None)
    return part_of_month(month, THIRDS.index(words["third"])) if "third" in words else month


@DATES.means(rf"\b(?P<which>last|this|next)\s+(?P<month>{MONTH})(?!\s+(?:\d|be\b|have\b))", begins="last this next")
def _which_month(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """last May: the latest May that is over; this May: that of this year; next May: the first that has not begun."""
    number, offset = month_of(words["month"]), WHICH[words["which"]]
    over = number >= calendar.now.month if offset < 0 else number <= calendar.now.month
    return calendar.named_month(number, calendar.now.year + (offset if over else 0))


@DATES.means(
    rf"\b(?:between|from)\s+(?P<month>{MONTH})(?:\s+(?P<first>{YEAR}))?(?:\s+and\s+|{TO})(?P<last>{MONTH})(?:{_IN_YEAR})?(?!\s+\d)",
    rf"\b(?P<month>{CLEAR_MONTH})(?:\s+(?P<first>{YEAR}))?{TO}(?P<last>{CLEAR_MONTH})(?:{_IN_YEAR})?(?!\s+\d)",
    begins=f"{MONTHS} between from",
)
def _months(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """between May and July 2023, from March to May: both included."""
    first = calendar.named_month(month_of(words["month"]), int(words["first"]) if "first" in words else None)
    last = calendar.named_month(month_of(words["last"]), int(words["year"]) if "year" in words else None)
    return joined(first, last, calendar)


@DATES.means(
    rf"\b(?:{_BEFORE_YEAR.replace(' ', '|')})\s+(?P<it>(?P<year>{YEAR}))\b(?!-)",
    rf"\b(?P<third>early|mid|late)[\s-]+(?P<year>{YEAR})\b",
    rf"\b(?:the\s+)?(?P<part>beginning|start|middle|end)\s+of\s+(?P<year>{YEAR})\b",
    begins=f"{_BEFORE_YEAR} early mid late the beginning start middle end",
)
def _year(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """in 2022; early, mid and late 2023 are four months each; the beginning and the end of 2023 are two."""
    year = of_years(int(words["year"]))
    if "third" in words:
        return months_of(year, 1 + 4 * THIRDS.index(words["third"]), 4)
    return months_of(year, *_MONTHS_OF_YEAR[words["part"]]) if "part" in words else year


@DATES.means(
    rf"\b(?:between|from)\s+(?P<it>(?P<first>{YEAR})(?:\s+and\s+|{TO})(?P<last>{YEAR}))", begins="between from"
)
def _years(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """between 2020 and 2022, from 2020 to 2022: both included."""
    first, last = int(words["first"]), int(words["last"])
    return of_years(first, last) if first <= last else None


@DATES.means(
    r"\b(?:the\s+)?(?P<part>beginning|start|middle|end)\s+of\s+(?P<which>the|last|this|next)\s+(?P<unit>month|year)\b",
    begins="the beginning start middle end",
)
def _part_of_which(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """the end of last month (from the 21st), the beginning of the year: "the" is the latest that has begun."""
    for offset in [0, -1] if words["which"] == "the" else [WHICH[words["which"]]]:
        if words["unit"] == "year":
            found = months_of(calendar.year(offset), *_MONTHS_OF_YEAR[words["part"]])
        else:
            found = part_of_month(calendar.month(offset), {"middle": 1, "end": 2}.get(words["part"], 0))
        if words["which"] != "the" or (found.since is not None and found.since <= calendar.now):
            return found
    return None


@DATES.means(
    rf"\b(?P<which>last|past|previous|this|next)\s+(?P<season>{SEASON})\b",
    rf"\b(?P<season>{SEASON})(?:\s+of|\s+in)?\s+(?P<year>{YEAR})\b",
    begins="last past previous this next spring summer autumn fall winter",
)
def _season(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """summer of 2023; last summer: the latest that is over; this summer: that of this year."""
    name = SEASONS[words["season"]]
    if "year" in words:
        return calendar.season(name, int(words["year"]))
    offset = WHICH[words["which"]]
    return calendar.latest_season(name, over=True) if offset < 0 else calendar.season(name, calendar.now.year + offset)


@DATES.means(
    rf"\b(?:the\s+)?(?P<order>first|second|third|fourth|last)\s+(?P<what>week|weekend)\s+(?:of|in)\s+(?P<month>{MONTH})(?:{_IN_YEAR})?",
    begins="the first second third fourth last",
)
def _week_of_month(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """the first week of May 2023: days 1 to 7; the first weekend: the first Saturday and the Sunday after it."""
    month = calendar.named_month(month_of(words["month"]), int(words["year"]) if "year" in words else None)
    assert month.since is not None
    assert month.until is not None
    if words["order"] == "last":
        first = month.until - timedelta(days=7)
    else:
        first = month.since + timedelta(weeks=_ORDINALS.index(words["order"]))
    if words["what"] == "week":
        return of_days(first.date(), 7)
    return of_days(first.date() + timedelta(days=(5 - first.weekday()) % 7), 2)
