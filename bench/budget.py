"""What fits: the share of the evidence that stands in a context of so many tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .found import BUDGET
from .tables import mean, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .found import Asked


def report(name: str, asked: Sequence[Asked]) -> None:
    tokens = [each.answer.tokens for each in asked]
    assert max(each.condensed for each in tokens) <= BUDGET
    gold = sum(len(each.question.gold) for each in asked)
    number = len(asked)
    table(
        f"{name}: what stands in a context of {BUDGET:,} tokens, messages only, floor off",
        ["", "measured"],
        [
            ["evidence in the context, mean over questions, %", mean([_share(each) for each in asked])],
            ["evidence in the context, over all pieces of evidence, %", 100 * sum(e.packed() for e in asked) / gold],
            ["all evidence of a question in the context, % of questions", mean([float(_share(e) == 1) for e in asked])],
            ["lines", sum(len(each.answer.items) for each in asked) / number],
            ["tokens, mean", sum(each.condensed for each in tokens) / number],
            ["tokens, most", max(each.condensed for each in tokens)],
            ["tokens of all that was read, mean", sum(each.raw for each in tokens) / number],
        ],
    )


def _share(asked: Asked) -> float:
    return asked.packed() / len(asked.question.gold)
