"""Times as seen from the moment of speaking: 昨天, 上周三, 三天前, 最近三天."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.language.when.calendar import Range
from rememberd.language.when.found import Rules

from .words import BEFORE, NUMBER, OFFSETS, UNIT, UNITS, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rememberd.language.when.calendar import Calendar

RELATIVE = Rules()

_WEEK = "(?:周|星期|礼拜)"
_NOT_WEEKDAY = "(?![个次天遍回场趟人本位家张顿节块件条直起些样般定共边路常子元语])"  # 上周一起, 上周三次, 上周日本
_HALVES = {"year": (6, "month"), "month": (2, "week"), "hour": (30, "minute")}


@RELATIVE.means(
    "(?P<day>大前|(?<![目之以天日周月年])前(?=天(?![津气]))|昨|今(?!日头条)|(?<!光)明|大后(?=天)|(?<![先以之然])后(?=天(?!性)))[天日儿]",
    "(?P<day>[昨今前明])(?=[早晨晚夜](?![饭餐]))",
)
def _day(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """昨天, 大前天; and 昨晚, whose part of the day follows."""
    return calendar.day(OFFSETS[words["day"]])


@RELATIVE.means(
    rf"(?P<week>(?<![晚早以])上上|(?<![晚早以])上|这|本|下下|下)(?:一个?|个)?{_WEEK}(?![围边期年全转密岁])"
    rf"(?:(?P<weekday>[一二三四五六日天]){_NOT_WEEKDAY}|(?P<weekend>末))?",
    rf"(?<![一二两三四五六七八九十每数几半个整到至、和0-9上下这本]){_WEEK}(?P<weekday>[一二三四五六日天]){_NOT_WEEKDAY}"
    r"(?!\s*[到至、和~-])",
)
def _week(calendar: Calendar, words: Mapping[str, str]) -> Range:
    """上周三: Wednesday of the week before this; 周三 alone: the latest Wednesday up to today."""
    number = "一二三四五六日".index(words["weekday"].replace("天", "日")) if "weekday" in words else None
    if "week" not in words and number is not None:
        return calendar.latest_weekday(number)
    offset = OFFSETS[words["week"]]
    if "weekend" in words:
        return calendar.weekend(offset)
    return calendar.week(offset) if number is None else calendar.weekday(number, offset)


@RELATIVE.means(rf"(?<![第0-9.点])(?P<number>{NUMBER}|半|好?几|数)多?{UNIT}多?(?:之|以)?{BEFORE}")
def _ago(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """三天前: that day; 两周前, 三个月前, 十年前: the week, month or year of it; 半年前: the month half a year back;
    几天前: from six days back to two days back."""
    unit = _unit(words)
    if words["number"] == "半":
        return calendar.ago(*_HALVES[unit]) if unit in _HALVES else None
    return calendar.few(unit) if words["number"][-1] in "几数" else calendar.ago(number_of(words["number"]), unit)


@RELATIVE.means(rf"(?<![以之目])前(?P<number>几|些|两){UNIT}(?!前|后)")
def _these_before(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """前几天: from six days back to two days back; 前两天: the day before yesterday and yesterday."""
    unit = _unit(words)
    if words["number"] != "两":
        return calendar.few(unit)
    far, near = calendar.ago(2, unit), calendar.ago(1, unit)
    return Range(far.since, near.until) if far is not None and near is not None else None


@RELATIVE.means(
    rf"(?:最近|过去|近)的?这?(?P<number>{NUMBER}|几|半){UNIT}(?!前)",
    rf"这(?P<these>[2-9两三四五六七八九十几]){UNIT}(?!前|后)",
)
def _past(calendar: Calendar, words: Mapping[str, str]) -> Range | None:
    """最近三天: from three days back up to today; 这两天: yesterday and today."""
    unit, number = _unit(words), words.get("number") or words["these"]
    if number == "半":
        return calendar.past(6, "month") if unit == "year" else calendar.past(15, "day") if unit == "month" else None
    return calendar.past(6 if number == "几" else number_of(number) - ("these" in words), unit)


def _unit(words: Mapping[str, str]) -> str:
    return UNITS[words.get("month") or words["unit"]]
