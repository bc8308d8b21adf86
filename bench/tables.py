"""Markdown tables, as benches print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """The first column is text, the others are numbers; a number with a fraction has one digit of it."""
    print(f"\n### {title}\n")
    print(f"| {' | '.join(columns)} |")
    print(f"| --- |{' --: |' * (len(columns) - 1)}")
    for row in rows:
        print(f"| {' | '.join(_shown(cell) for cell in row)} |", flush=True)


def _shown(cell: object) -> str:
    return f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def mean(values: Sequence[float]) -> float:
    """In per cent."""
    return 100 * sum(values) / len(values) if values else 0.0
