"""When recall is silent: questions about things never said, at the default floor and around it.

English: the questions of one conversation put to another's memory, as they are, and with the names replaced by those of
the people who speak there. Chinese: questions of our own about things that nobody there ever said. Against that stands
what is lost: evidence that is no longer found because the answer was silence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .never_said import NEVER_SAID
from .tables import mean, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .evidence import Case
    from .found import Asked
    from .house import House

_FACTORS = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3)


def report_english(house: House, cases: Sequence[Case], asked: Sequence[Asked]) -> None:
    plain, renamed = list[float](), list[float]()
    for asking in cases:
        for other in cases:
            if other is not asking:
                texts = [question.text for question in asking.questions]
                plain += _reached(house, other.name, texts)
                renamed += _reached(house, other.name, [_renamed(text, asking, other) for text in texts])
    _report(
        f"LoCoMo: silence, {len(plain):,} questions of other conversations",
        {"as they are": plain, "names replaced": renamed}, _answerable(house, asked),
    )  # fmt: skip


def report_chinese(house: House, cases: Sequence[Case], asked: Sequence[Asked]) -> None:
    chosen = cases[:: max(1, len(cases) // 4)][:4]
    never = [reached for case in chosen for reached in _reached(house, case.name, NEVER_SAID)]
    others = []
    for number, case in enumerate(cases):
        other = next(each for each in (*cases[number:], *cases) if _kind(each) not in (_kind(case), "hybrid"))
        if _kind(case) != "hybrid":
            others += _reached(house, other.name, [question.text for question in case.questions])
    _report(
        f"MemDaily: silence, {len(NEVER_SAID)} questions of our own, each put to {len(chosen)} people's memories; and "
        f"{len(others)} questions about another kind of things than the memory holds",
        {"never said": never, "other things": others}, _answerable(house, asked),
    )  # fmt: skip


def _kind(case: Case) -> str:
    """What a trajectory of MemDaily is about: events, items, places, roles, or all of it."""
    return case.name.rsplit("-", 1)[0].rsplit("_", 1)[1]


def _reached(house: House, user: str, texts: Iterable[str]) -> list[float]:
    """How far each question reaches towards the default floor: below 1 there is silence, in hits and context alike."""
    reached = []
    for text in texts:
        context = house.ask(user, text, explain=True)
        told = context.explanation
        assert told is not None
        reached.append(told.relevance / told.floor if told.ranked else 0.0)
        assert (reached[-1] < 1) == (not context.raw) == (not context.items), text
    return reached


def _answerable(house: House, asked: Sequence[Asked]) -> list[tuple[float, float]]:
    """How far each answerable question reaches, and what is found for it within ten hits."""
    return [(_reached(house, each.case, [each.question.text])[0], each.share(10)) for each in asked]


def _report(title: str, never: dict[str, list[float]], answerable: list[tuple[float, float]]) -> None:
    whole = mean([share for _, share in answerable])
    table(
        title,
        ["floor × default", *(f"{name}, silent %" for name in never), "recall@10 after it", "lost", "own silenced %"],
        [
            [
                f"**{factor:.2f}**" if factor == 1 else f"{factor:.2f}",
                *(mean([float(reached < factor) for reached in each]) for each in never.values()),
                left := mean([share if reached >= factor else 0.0 for reached, share in answerable]),
                whole - left,
                mean([float(reached < factor) for reached, _ in answerable]),
            ]
            for factor in _FACTORS
        ],
    )


def _renamed(text: str, asking: Case, other: Case) -> str:
    """The question with the names of its own speakers replaced by those of the memory that it is put to."""
    names = dict(zip(sorted(asking.speakers), sorted(other.speakers), strict=False))
    return re.sub(rf"\b({'|'.join(map(re.escape, names))})\b", lambda match: names[match[0]], text)
