"""What each stage of recall gives: the same questions with a stage left out, by the setting ``recall.stages``."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rememberd.settings import TABLE

from .evidence import moment
from .tables import mean, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .evidence import Case
    from .house import House

_DEPTHS = (5, 10, 50)


def report(name: str, house: House, cases: Sequence[Case]) -> None:
    table(
        f"{name}: what each stage gives (floor off but in the last row)",
        ["stages", *(f"recall@{depth}" for depth in _DEPTHS), "multi-hop @10" if name == "LoCoMo" else "noisy @10"],
        _rows(house, cases, "multi-hop" if name == "LoCoMo" else "noisy"),
    )


def _rows(house: House, cases: Sequence[Case], category: str) -> Iterator[list[object]]:
    every = str(TABLE["recall.stages"].default).split(",")
    ranking = [stage for stage in every if stage != "floor"]
    variants: dict[str, list[str]] = {
        "all": ranking,
        "words only": ["lexical"],
        "meaning only": ["vector"],
        "words and meaning": ["lexical", "vector"],
    }
    for left_out in ranking:
        variants[f"without {left_out}"] = [stage for stage in ranking if stage != left_out]
    for name, stages in variants.items():
        house.reopen(",".join(stages))
        yield [name, *_measured(house, cases, category)]
    for name in ("all", "without recency"):
        house.reopen(",".join(variants[name]))
        yield [f"{name}, asked a day after the last message", *_measured(house, cases, category, a_day_later=True)]
    house.reopen()
    yield ["all, with the floor", *_measured(house, cases, category)]


def _measured(house: House, cases: Sequence[Case], category: str, *, a_day_later: bool = False) -> list[float]:
    shares: dict[int, list[float]] = {depth: [] for depth in _DEPTHS}
    special: list[float] = []
    for case in cases:
        options: dict[str, Any] = {"k": max(_DEPTHS)}
        if a_day_later:
            options["now"] = max(moment(said.time) for said in case.said) + timedelta(days=1)
        for question in case.questions:
            ids = [hit.metadata["id"] for hit in house.ask(case.name, question.text, **options).raw]
            for depth in _DEPTHS:
                shares[depth].append(len(question.gold.intersection(ids[:depth])) / len(question.gold))
            if question.category == category:
                special.append(len(question.gold.intersection(ids[:10])) / len(question.gold))
    return [mean(shares[depth]) for depth in _DEPTHS] + [mean(special)]
