"""The English words for times."""

from __future__ import annotations

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}
WHICH = {"last": -1, "previous": -1, "past": -1, "this": 0, "next": 1}
THIRDS = ("early", "mid", "late")

_CLEAR = (
    "jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    "|dec(?:ember)?"
)
#: The words with which some shapes begin.
MONTHS = (
    "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov"
    " november dec december"
)
WEEKDAYS = "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday"
NUMBERS = "0 a an one two couple three four five six seven eight nine ten eleven twelve fifteen twenty thirty"

#: A month, whether or not its name has another sense.
MONTH = rf"(?:{_CLEAR}|mar(?:ch)?|may)\b\.?"
#: A month that is no verb: "may" and "march" only with a capital.
CLEAR_MONTH = rf"(?:{_CLEAR}|(?-i:Mar(?:ch)?|May))\b\.?"
#: A month whose name has no other sense at all, neither as a verb nor as a person.
PLAIN_MONTH = r"(?:january|february|july|september|october|november|december)\b"
LONG_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
#: A day of the week; "sat" and "sun" only with a capital.
WEEKDAY = rf"(?:{LONG_WEEKDAY}|(?-i:Mon|Tues?|Wed|Thur?s?|Fri|Sat|Sun)\b\.?)"
SEASON = "(?:spring|summer|autumn|fall|winter)"
DAY = r"(?:3[01]|[12]\d|0?[1-9])"
TH = "(?:st|nd|rd|th)"
YEAR = r"(?:19|20)\d\d(?![\d%€£$]|[.,]\d)"
OF = r"(?:\s+of)?\s+"
TO = r"\s*(?:-|–|—|\bto\b|\buntil\b|\btill\b|\bthrough\b)\s*"
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "couple of": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
NUMBER = rf"(?:\d{{1,3}}|(?:a\s+)?couple(?:\s+of)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True)[2:])})"
UNIT = r"(?P<unit>minute|min|hour|day|week|month|year)s?"


def month_of(word: str) -> int:
    return next(i for i, name in enumerate(_MONTH_NAMES, 1) if name.startswith(word[:3]))


def weekday_of(word: str) -> int:
    return next(i for i, name in enumerate(_WEEKDAY_NAMES) if name.startswith(word[:3]))


def unit_of(word: str) -> str:
    return "minute" if word == "min" else word


def number_of(text: str) -> int:
    """3, three, a, a couple of."""
    words = " ".join(text.split())
    return int(words) if words.isdecimal() else _NUMBERS[words.removeprefix("a ")]
