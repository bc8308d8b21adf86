"""How times are found in a text: shapes of words with their meanings, tried everywhere, the longest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from .calendar import Calendar, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_TOKEN = re.compile("[A-Za-z]+|([0-9]+)")

#: A word in small letters, or 0 for any figures; and where it stands.
Token: TypeAlias = tuple[str, int]

#: What named parts of a shape say, in small letters, to a range; None if they mean nothing after all.
Meaning: TypeAlias = Callable[[Calendar, Mapping[str, str]], Range | None]


@dataclass(frozen=True, slots=True)
class Found:
    """Where an expression stands, and which range it means."""

    start: int
    end: int
    range: Range


class Rules:
    """Shapes with their meanings, as a module collects them. A shape that needs words before it names itself ``it``."""

    def __init__(self, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._flags = flags
        self._anywhere: list[tuple[re.Pattern[str], Meaning]] = []
        self._behind: dict[str, list[tuple[re.Pattern[str], Meaning]]] = {}

    def means(self, *shapes: str, begins: str = "") -> Callable[[Meaning], Meaning]:
        """Collects a function as the meaning of some shapes.

        Shapes that begin with one of a few words are only tried there, which is what makes finding fast; ``0`` stands
        for any figures.
        """

        def collect(meaning: Meaning) -> Meaning:
            rules = [(re.compile(shape, self._flags), meaning) for shape in shapes]
            if not begins:
                self._anywhere += rules
            for word in dict.fromkeys(begins.split()):
                self._behind.setdefault(word, []).extend(rules)
            return meaning

        return collect

    def find(self, text: str, calendar: Calendar, tokens: Sequence[Token] = ()) -> list[tuple[int, int, Range]]:
        """Everything that matches and means something, in any order; ``tokens`` are those of the text."""
        found = []
        for match, meaning in self._matches(text, tokens):
            it = "it" if "it" in match.re.groupindex else 0
            words = {name: word.lower() for name, word in match.groupdict().items() if word}
            means = meaning(calendar, words)
            if means is not None:
                found.append((match.start(it), match.end(it), means))
        return found

    def _matches(self, text: str, tokens: Sequence[Token]) -> Iterator[tuple[re.Match[str], Meaning]]:
        for pattern, meaning in self._anywhere:
            for match in pattern.finditer(text):
                yield match, meaning
        for word, start in tokens:
            for pattern, meaning in self._behind.get(word, ()):
                if (behind := pattern.match(text, start)) is not None:
                    yield behind, meaning


def tokens_of(text: str) -> list[Token]:
    """The words and figures with which shapes may begin."""
    return [("0" if token[1] else token[0].lower(), token.start()) for token in _TOKEN.finditer(text)]


def longest(found: Iterable[tuple[int, int, Range]]) -> list[Found]:
    """In order; of those that begin at one place the longest, and none within another."""
    chosen: list[Found] = []
    for start, end, means in sorted(found, key=lambda each: (each[0], -each[1])):
        if not chosen or start >= chosen[-1].end:
            chosen.append(Found(start, end, means))
    return chosen


def connected(dates: Iterable[Found], calendar: Calendar, links: Callable[[Found, Found], bool]) -> list[Found]:
    """Two that are linked are one range, from the first to the last."""
    made: list[Found] = []
    for found in dates:
        if made and links(made[-1], found):
            before = made.pop()
            made.append(Found(before.start, found.end, joined(before.range, found.range, calendar)))
        else:
            made.append(found)
    return made


def joined(first: Range, last: Range, calendar: Calendar) -> Range:
    """From the first to the last, both included; a year that one of them lacks is that of the other."""
    since, until = first, last
    if first.month is not None and last.since is not None:
        since = _in_year(first, last.since.year, calendar)
        if since.since is not None and since.since > last.since:
            since = _in_year(first, last.since.year - 1, calendar)
    elif last.month is not None and first.since is not None:
        until = _in_year(last, first.since.year, calendar)
        if until.since is not None and until.since < first.since:
            until = _in_year(last, first.since.year + 1, calendar)
    return Range(since.since, until.until)


def _in_year(range_: Range, year: int, calendar: Calendar) -> Range:
    assert range_.month is not None
    if range_.day is None:
        return calendar.named_month(range_.month, year)
    return calendar.named_day(range_.month, range_.day, year) or range_
