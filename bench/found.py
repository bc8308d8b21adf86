"""What is found: the share of each question's evidence among the first hits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rememberd import Context

from .evidence import Question
from .tables import mean, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .evidence import Case
    from .house import House

BUDGET = 1500
DEPTHS = (5, 10, 25, 50)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, whose memory it was asked of, and the answer."""

    case: str
    question: Question
    answer: Context

    def share(self, depth: int) -> float:
        """The share of the evidence among so many of the first hits."""
        hits = {hit.metadata["id"] for hit in self.answer.raw[:depth]}
        return len(hits & self.question.gold) / len(self.question.gold)

    def packed(self) -> int:
        """How many pieces of the evidence stand in the context."""
        return len({hit.metadata["id"] for hit in self.answer.items} & self.question.gold)


def ask_all(house: House, cases: Iterable[Case]) -> list[Asked]:
    """With the floor off: the question is what is found, not when to be silent."""
    return [
        Asked(
            case.name,
            question,
            house.ask(case.name, question.text, k=max(DEPTHS), budget=BUDGET, floor=0.0, explain=True,
                      filters={"kind": "message"}),
        )
        for case in cases
        for question in case.questions
    ]  # fmt: skip


def report(name: str, asked: Sequence[Asked]) -> None:
    categories = dict.fromkeys(each.question.category for each in asked)
    groups = {category: [each for each in asked if each.question.category == category] for category in categories}
    table(
        f"{name}: share of the evidence among the first hits, floor off",
        ["questions", "n", *(f"recall@{depth}" for depth in DEPTHS)],
        [
            [group, len(members), *(mean([each.share(depth) for each in members]) for depth in DEPTHS)]
            for group, members in [*groups.items(), ("**all**", list(asked))]
        ],
    )
