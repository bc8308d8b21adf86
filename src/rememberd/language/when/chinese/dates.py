"""Dates by the calendar: 2023年, 去年五月, 5月3号, 上个月底, 年初. Without a year, the latest that has begun."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rememberd.language.when.calendar import Range, is_year, months_of, of_years, part_of_month
from rememberd.language.when.found import Rules

from .words import DAY, MONTH, OFFSETS, SEASONS, TO, YEAR, number_of, year_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rememberd.language.when.calendar import Calendar

DATES = Rules(re.VERBOSE)

_NOT_MONTH = "(?![薪票租供饼亮球光经嫂子兔河]|天(?!气))"  # 三月兔, 五月天, 二月河
_THIRD = "(?P<third>[初底末]|[上中下]旬|中(?![国文午学秋考]))"
_IN_MONTH = rf"(?: \s?的?(?P<day>{DAY})\s?[日号](?!线|楼) (?:{TO}(?P<last>{DAY})\s?[日号])? | 的?{_THIRD} )?"
_THIRDS = {"初": 0, "上旬": 0, "中": 1, "中旬": 1, "底": 2, "末": 2, "下旬": 2}
_MONTHS = {"初": (1, 2), "年中": (6, 2), "底": (11, 2), "末": (11, 2), "上半年": (1, 6), "下半年": (7, 6)}


@DATES.means(
    rf"""(?: (?P<year>{YEAR})\s?年 | (?P<which>(?<![目之以])(?:大前|前|去|今|明|后|上一))年(?![龄度轻代]) )
    的?\s?(?: (?P<month>{MONTH})\s?月份?{_NOT_MONTH} {_IN_MONTH}
             | 年?(?P<part>[初底末]|年中|[上下]半年) | (?P<season>[春夏秋冬])[天季] )?""",
    rf"(?<!\d)(?P<short>\d\d)年(?P<month>{MONTH})\s?月份?{_NOT_MONTH} {_IN_MONTH}",
)
def _of_year(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """2023年, 去年五月, 23年5月3日, 去年年底, 前年夏天. 年初 and 年底 are the first and the last two months."""
    year = _year(calendar, words)
    if not is_year(year):
        return None
    if "season" in words:
        return calendar.season(SEASONS[words["season"]], year)
    if "part" in words:
        return months_of(of_years(year), *_MONTHS[words["part"]])
    if "month" in words:
        return _in_month(calendar, words, number_of(words["month"]), year)
    return of_years(year)


def _year(calendar: Calendar, words: Mapping[str, str]) -> int:
    if "year" in words:
        return year_of(words["year"])
    if "which" in words:
        return calendar.now.year + OFFSETS[words["which"]]
    century, now = divmod(calendar.now.year, 100)
    return (century - (int(words["short"]) > now + 10)) * 100 + int(words["short"])


@DATES.means(rf"(?<![\d.个第一二三四五六七八九十])(?P<month>{MONTH})\s?月份?{_NOT_MONTH} {_IN_MONTH}")
def _month(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """五月, 5月3号, 10月初."""
    return _in_month(calendar, words, number_of(words["month"]), None)


@DATES.means(rf"(?P<which>(?<![晚早以])上上|(?<![晚早以])上|这|本|下)个?月 {_IN_MONTH}")
def _which_month(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """上个月, 本月3日, 上月底. 月初, 月中 and 月底 are days 1 to 10, 11 to 20, and from 21 on."""
    month = calendar.month(OFFSETS[words["which"]])
    assert month.since is not None
    return _in_month(calendar, words, month.since.month, month.since.year)


def _in_month(calendar: Calendar, words: Mapping[str, str], month: int, year: int | None) -> Range | None:
    if "day" not in words:
        whole = calendar.named_month(month, year)
        return part_of_month(whole, _THIRDS[words["third"]]) if "third" in words else whole
    first = calendar.named_day(month, number_of(words["day"]), year)
    if first is None or first.since is None or "last" not in words:
        return first
    last = calendar.named_day(month, number_of(words["last"]), first.since.year)
    return Range(first.since, last.until) if last is not None else None


@DATES.means("(?<![每个0-9一二三四五六七八九十明去今前后上本这下半])(?P<unit>[年月])(?P<part>[初底末])")
def _part_of_this(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """年初, 月底 alone: the latest that has begun."""
    for back in (0, -1):
        if words["unit"] == "年":
            found = months_of(calendar.year(back), *_MONTHS[words["part"]])
        else:
            found = part_of_month(calendar.month(back), _THIRDS[words["part"]])
        if found.since is not None and found.since <= calendar.now:
            return found
    return None


@DATES.means(rf"(?P<first>{YEAR})年?{TO}(?P<last>{YEAR})年")
def _years(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """2020年到2022年: both included."""
    first, last = year_of(words["first"]), year_of(words["last"])
    return of_years(first, last) if is_year(first) and is_year(last) and first <= last else None
