"""Times as seen from the moment of speaking: yesterday, last Tuesday, two weeks ago, the past three days."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rememberd.language.when.calendar import part_of_day
from rememberd.language.when.found import Rules

from .words import LONG_WEEKDAY, NUMBER, NUMBERS, UNIT, WEEKDAY, WEEKDAYS, WHICH, number_of, unit_of, weekday_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rememberd.language.when.calendar import Calendar, Range

RELATIVE = Rules(re.IGNORECASE)

_OF_WEEK = r"(?:\s+(?:of\s+)?(?P<week>last|this|next)\s+week)?"


@RELATIVE.means(
    r"\b(?P<day>yesterday|today|tomorrow)\b",
    r"\bthe\s+day\s+(?P<day>before\s+yesterday|after\s+tomorrow)\b",
    begins="the yesterday today tomorrow",
)
def _day_word(calendar: Calendar, words: Mapping[str, str]) -> Range:
    days = {"before": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "after": 2}
    return calendar.day(days[words["day"].split()[0]])


@RELATIVE.means(
    r"\b(?P<night>last\s+night|tonight)\b",
    r"\bthis\s+(?P<part>morning|afternoon|evening)\b",
    begins="last tonight this",
)
def _part_of_day(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """this morning is of today; a night is from six in the evening to six in the morning."""
    yesterday = words.get("night", "").startswith("last")
    return part_of_day(calendar.day(-1 if yesterday else 0), words.get("part", "night"))


@RELATIVE.means(
    r"\b(?P<which>last|previous|this|next)\s+(?P<unit>week|weekend|month|year)\b(?!\s+(?:of|in)\s+[a-z])",
    r"\bthe\s+(?P<unit>week|weekend|month|year)\s+before\s+last\b",
    begins="the last previous this next",
)
def _which_unit(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """last week, this month, next year: whole ones of the calendar; "before last" is one more back."""
    offset = WHICH[words["which"]] if "which" in words else -2
    units = {"week": calendar.week, "weekend": calendar.weekend, "month": calendar.month, "year": calendar.year}
    return units[words["unit"]](offset)


@RELATIVE.means(
    rf"\b(?P<which>last|previous|past|this|next)\s+(?P<weekday>{WEEKDAY})",
    rf"\b(?:on|since|until|till)\s+(?P<it>(?P<weekday>{WEEKDAY}){_OF_WEEK})",
    rf"(?<!every\s)(?<!each\s)\b(?P<weekday>{LONG_WEEKDAY}){_OF_WEEK}",
    begins=f"last previous past this next on since until till {WEEKDAYS}",
)
def _weekday(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """last Tuesday: the Tuesday before today; this Tuesday: that of this week; next Tuesday: the first after today;
    on Tuesday: the latest up to today; Tuesday last week: that of the week before this."""
    number = weekday_of(words["weekday"])
    if "week" in words:
        return calendar.weekday(number, WHICH[words["week"]])
    if "which" not in words:
        return calendar.latest_weekday(number)
    offset = WHICH[words["which"]]
    if offset < 0:
        return calendar.latest_weekday(number, before_today=True)
    return calendar.coming_weekday(number) if offset > 0 else calendar.weekday(number, 0)


@RELATIVE.means(
    rf"\b(?:(?P<half>half\s+an?)|(?P<few>(?:a\s+)?few|several)|(?P<number>{NUMBER}))\s+{UNIT}\s+(?:ago|back)\b",
    begins=f"half a few several {NUMBERS}",
)
def _ago(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """three days ago: that day; two weeks, months, years ago: the week, month or year of it; a few: two to six."""
    unit = unit_of(words["unit"])
    if "half" in words:
        halves = {"year": (6, "month"), "hour": (30, "minute")}
        return calendar.ago(*halves[unit]) if unit in halves else None
    return calendar.few(unit) if "few" in words else calendar.ago(number_of(words["number"]), unit)


@RELATIVE.means(
    rf"\b(?:past|last|previous)\s+(?:(?P<few>few|several)|(?P<number>{NUMBER}))\s+{UNIT}\b",
    rf"\bpast\s+{UNIT}\b",
    begins="past last previous",
)
def _past(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """the past three days, the last two weeks: from that far back up to today."""
    number = 6 if "few" in words else number_of(words.get("number", "one"))
    return calendar.past(number, unit_of(words["unit"]))
