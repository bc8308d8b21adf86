"""rememberd for scorers of evidence recall: a retriever with ``add`` and ``search``, through the public API.

    python SCORER --data DATA --retriever bench.recall:make

A memory is (id, text, speaker, time as text). Each retriever is a user of one temporary store; identical texts share
one embedding. The floor is off: the scorers ask what is found, not when to be silent.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING

from .embeddings import kept_embeddings
from .evidence import Said
from .house import House

if TYPE_CHECKING:
    from collections.abc import Sequence

_numbers = itertools.count()


@cache
def house() -> House:
    kept_embeddings().__enter__()
    return House()


class Retriever:
    def __init__(self) -> None:
        self._user = f"user-{next(_numbers)}"
        self._settled = False

    def add(self, memories: Sequence[tuple[str, str, str, str]]) -> None:
        self._settled = False
        house().record(self._user, [Said(*memory) for memory in memories])

    def search(self, query: str, k: int) -> list[str]:
        if not self._settled:
            house().settle()
            self._settled = True
        return [hit.metadata["id"] for hit in house().ask(self._user, query, k=k, floor=0.0).raw]


def make() -> Retriever:
    return Retriever()
