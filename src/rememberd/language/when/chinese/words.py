"""The Chinese words for times, in simplified characters."""

from __future__ import annotations

#: How far from now: 前天 is two days back, 上周 one week, 明年 one year ahead.
OFFSETS = {
    "大前": -3, "上上": -2, "前": -2, "上一": -1, "昨": -1, "去": -1, "上": -1, "今": 0, "本": 0, "这": 0, "明": 1,
    "下": 1, "下下": 2, "后": 2, "大后": 3,
}  # fmt: skip
SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
UNITS = {
    "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "周": "week", "星期": "week", "礼拜": "week",
    "月": "month", "年": "year",
}  # fmt: skip
PARTS_OF_DAY = {
    "凌晨": "small hours", "清晨": "morning", "早上": "morning", "早晨": "morning", "上午": "morning", "早": "morning",
    "晨": "morning", "中午": "noon", "下午": "afternoon", "傍晚": "evening", "晚上": "night", "晚间": "night",
    "夜里": "night", "夜晚": "night", "深夜": "night", "半夜": "night", "晚": "night", "夜": "night",
}  # fmt: skip

NUMBER = r"(?:\d{1,3}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
MONTH = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
DAY = r"(?:3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
YEAR = "(?:(?:19|20)[0-9]{2}|[一二][〇零九][〇零一二三四五六七八九]{2})"
#: A unit with the measure word it takes: 三个月 is three months, 三月 is March.
UNIT = "(?:个(?P<month>月)|个?(?P<unit>分钟|小时|钟头|天|周|星期|礼拜|年))"
TO = r"\s*(?:到|至|-|–|—|~|～)\s*"
#: 前 as before, not as a part of a longer word: 前台, 前进, 前几天.
BEFORE = "前(?![台端后锋往进面边提途几些两])"

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


def number_of(text: str) -> int:
    """3, 三, 十, 十五, 二十, 二十五."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return _DIGITS[ones] if not ten else 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)


def year_of(text: str) -> int:
    """2023, 二〇二三: digit by digit."""
    return int(text) if text.isdecimal() else int("".join(str(_DIGITS[digit]) for digit in text))
