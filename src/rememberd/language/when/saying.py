"""Whether a question asks for what was said at a time, and what else it asks for.

"What did I say last Tuesday" asks for what was said on that day. "What happened in May" does not: it may have been told
in June. Neither does "what did I say about the party last Saturday", where the party may have been on Saturday.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rememberd.language.han import simplified

if TYPE_CHECKING:
    from .resolve import Span


def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.IGNORECASE)


_QUESTION = _pattern(
    r"[?？]|\b(?:what|which|who|whom|when|where|why|how|did|have|has|remind|recall|remember|list|show|summari[sz]e)\b"
    r"|什么|啥|哪|谁|吗|呢|多少|几|怎么|如何|有没有|是不是|回忆|总结|列出|告诉我"
)
_SAY = (
    r"\b(?:say|said|tell|told|mention(?:ed)?|talk(?:ed)?|discuss(?:ed)?|chat(?:ted)?|ask(?:ed)?|speak|spoke|bring\s+up"
    r"|brought\s+up)\b"
)
_WHOM = r"(?:\s+(?:to|with))?(?:\s+(?:you|me|us|him|her|them|it|that|each\s+other|(?-i:[A-Z]\w+)))?(?:\s+about)?"
_SAID_BEFORE = _pattern(
    rf"{_SAY}{_WHOM}(?:\s+back)?,?(?:\s+(?:on|in|at|during|over|within|the|between|from|earlier))*\s*$"
)
_WHO = r"(?:i|we|you|he|she|they|it|(?-i:[A-Z]\w+))"
_SAID_BEHIND = _pattern(
    rf"[\s,]*(?:(?:what|which|that|did|have|has|had|was|were|it|is|the)\s+)*{_WHO}\s+(?:also\s+)?{_SAY}"
)

_SPEAK = "(?:说(?!服|明书|法)|讲(?![课座])|聊|谈(?!恋爱|判)|提(?=[到过起及了])|告诉|问(?!题)|讨论|吩咐|交代|回复)"
_PERSON = "(?:我们|咱们|大家|你们|他们|她们|我|你|您|他|她)"
_SAID_BEHIND_CHINESE = re.compile(
    rf"(?:的?时候|那天|这天|期间|里|{_PERSON}|[A-Za-z]++|跟|和|对|向|给|与|都|又|还|也|曾经?|有没有|是不是|到底|究竟|主要|一起|在|[,，\s])*+"
    + _SPEAK
)
_FRAME_CHINESE = re.compile(
    rf"{_PERSON}|{_SPEAK}|什么|哪些|哪个|有没有|是不是|总结|回忆|列出|一下|[啥些吗呢吧了过到起及的都和跟对向给与在又还也曾话事请把里有没是?？,，。!！\s]"
)
_FRAME = _pattern(
    r"\b(?:what|which|who|whom|when|where|why|how|did|do|does|have|has|had|was|were|is|it|that|the|a|an|i|we|you|he|she"
    r"|they|me|us|him|her|them|my|your|our|to|with|about|on|in|at|from|between|during|over|within|earlier|and|please|can|could|remind|recall|remember|list"
    rf"|show|summari[sz]e|everything|anything|something|things|all|back)\b|{_SAY}"
)


def asks_when_said(text: str, span: Span) -> bool:
    """Whether the time is that of saying, by the words next to it."""
    if not _QUESTION.search(text):
        return False
    before, behind = text[: span.start], text[span.end :]
    return bool(
        _SAID_BEFORE.search(before) or _SAID_BEHIND.match(behind) or _SAID_BEHIND_CHINESE.match(simplified(behind))
    )


def besides(text: str, span: Span) -> str:
    """What a question asks for besides the time; empty if it asks for whatever was said then."""
    rest = f"{text[: span.start]} {text[span.end :]}"
    left = _FRAME.sub(" ", _FRAME_CHINESE.sub(" ", simplified(rest)))
    return rest.strip() if re.search(r"\w", left) else ""
