"""From text to sentences, and from long text to parts that fit a limit, cut where a reader would pause."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .tokens import Counter

Ends: TypeAlias = Callable[[str, int, int], Iterator[int]]

_CLOSING = "\"'”’」』）)\\]】》"
_END = re.compile(rf"[。！？]+[{_CLOSING}]*\s*|(?:[.!?]+|…+)[{_CLOSING}]*(?:\s+|$|(?=[\u3400-\u9fff]))|\n\s*")
_PAUSE = re.compile(r"[，、；：]\s*|[,;:]\s+|\s[-–—]\s")
_SPACE = re.compile(r"\s+")
_GOING_ON = "的之这那，、；"  # behind a quotation: “走吧。”的意思是……
_LAST_WORD = re.compile(r"[A-Za-z.]*$")

#: Words that end in a full stop without ending a sentence.
_ABBREVIATIONS = frozenset(
    {
        "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "fig", "figs", "vol", "pp", "approx", "dept", "est",
        "inc", "ltd", "co", "corp", "e.g", "i.e", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct",
        "nov", "dec",
    }
)  # fmt: skip


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, without the white space around them; a line ends a sentence too."""
    pieces = (text[start:end].strip() for start, end in _spans(text, 0, len(text), _sentence_ends))
    return [piece for piece in pieces if piece]


def parts(text: str, limit: int, count: Counter) -> list[str]:
    """A text as parts of at most ``limit`` by the measure of ``count``, in order; nothing but white space is lost.

    Parts are as long as the limit allows and end where a sentence ends; a sentence that is too long is cut at a pause,
    else between words, else between characters. A single character that is over the limit is a part of its own.
    """
    if limit < 1:
        raise ValueError("the limit must be at least 1")
    whole = text.strip()
    if not whole or count(whole) <= limit:
        return [whole] if whole else []
    pieces = (whole[start:end].strip() for start, end in _packed(whole, 0, len(whole), limit, count, _LEVELS))
    return [piece for piece in pieces if piece]


def _packed(
    text: str, start: int, end: int, limit: int, count: Counter, levels: tuple[Ends, ...]
) -> Iterator[tuple[int, int]]:
    """As many pieces of the first level as fit, again and again; a piece that does not fit is cut by the next level."""
    ends = [stop for _, stop in _spans(text, start, end, levels[0])]
    done = 0
    while done < len(ends):
        upto = _furthest(text, start, ends, done, limit, count)
        if upto == done and len(levels) > 1:
            upto += 1
            yield from _packed(text, start, ends[done], limit, count, levels[1:])
        else:
            upto = max(upto, done + 1)
            yield start, ends[upto - 1]
        start, done = ends[upto - 1], upto


def _furthest(text: str, start: int, ends: list[int], done: int, limit: int, count: Counter) -> int:
    """How many of the ends lie within the limit from ``start``; counting a long rest again and again is avoided."""

    def cost(stop: int) -> int:
        return count(text[start:stop].strip())

    step = 1
    while done + step < len(ends) and cost(ends[done + step - 1]) <= limit:
        step *= 2
    return bisect_right(ends, limit, done + step // 2, min(done + step, len(ends)), key=cost)


def _spans(text: str, start: int, end: int, ends: Ends) -> Iterator[tuple[int, int]]:
    """The pieces between ``start`` and ``end``, each with the white space behind it."""
    for stop in ends(text, start, end):
        if start < stop < end:
            yield start, stop
            start = stop
    if start < end:
        yield start, end


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    for found in _END.finditer(text, start, end):
        if not _goes_on(text, found):
            yield found.end()


def _goes_on(text: str, found: re.Match[str]) -> bool:
    """Whether a sentence goes on behind its mark: behind an abbreviation, an initial, or a quotation that is a part
    of it; before a small letter."""
    mark, ahead = found[0], text[found.end() : found.end() + 1]
    if "\n" in mark:
        return False
    if ahead and ahead in _GOING_ON and mark[-1] in _CLOSING:
        return True
    if mark[0] in "。！？":
        return False
    if ahead.islower():
        return True
    word = _LAST_WORD.search(text, max(0, found.start() - 12), found.start())
    before = word[0] if word else ""
    return mark.rstrip() == "." and (before.lower() in _ABBREVIATIONS or (len(before) == 1 and before not in "AI"))


def _pauses(text: str, start: int, end: int) -> Iterator[int]:
    return (found.end() for found in _PAUSE.finditer(text, start, end))


def _spaces(text: str, start: int, end: int) -> Iterator[int]:
    return (found.end() for found in _SPACE.finditer(text, start, end))


def _characters(text: str, start: int, end: int) -> Iterator[int]:
    return iter(range(start + 1, end))


_LEVELS = (_sentence_ends, _pauses, _spaces, _characters)
