"""rememberd for scorers of evidence recall: a retriever with ``add`` and ``search``, through the public API.

    python SCORER --data DATA --retriever bench.recall:make

A memory is (id, text, speaker, time as text). Each retriever is a user of one temporary store; identical texts share
one embedding. The floor is off: the scorers ask what is found, not when to be silent.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import tempfile
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from unittest.mock import patch

from rememberd import Memory, wiring
from rememberd.model import NewMessage, Scope
from rememberd.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from rememberd.ports.models import Embedder

T = TypeVar("T")
Evidence = tuple[str, str, str, str]

_FORMATS = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y年%m月%d日 %H:%M")
_numbers = itertools.count()


class SharedEmbeddings:
    """An embedder that embeds each text once, however many stores hold it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, bytes] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        for text, vector in zip(unknown, await self._embedder.embed(unknown), strict=True):
            self._known[text] = vector
        return [self._known[text] for text in texts]


class House:
    """One store for all retrievers."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        embedders, missing = wiring._embedders(load_settings())
        assert embedders, missing
        shared = tuple(SharedEmbeddings(embedder) for embedder in embedders)
        with patch.object(wiring, "_embedders", lambda settings: (shared, {})):
            self.memory = Memory(self.run(wiring.open_folder(tempfile.mkdtemp(prefix="rememberd-recall-"))).engine)

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(call)


@cache
def house() -> House:
    return House()


class Retriever:
    def __init__(self) -> None:
        self._user = f"user-{next(_numbers)}"
        self._settled = False

    def add(self, memories: Sequence[Evidence]) -> None:
        self._settled = False
        for time, said in itertools.groupby(memories, key=lambda memory: memory[3]):
            at = moment(time)
            messages = [
                NewMessage(role="user", content=text, name=speaker or None, at=at, metadata={"id": id_})
                for id_, text, speaker, _ in said
            ]
            thread = f"{self._user}-{time if _has_sessions(memories) else 'all'}"
            house().run(house().memory.ingest(Scope(user=self._user, thread=thread), messages))

    def search(self, query: str, k: int) -> list[str]:
        if not self._settled:
            assert house().run(house().memory.settle(3600)).settled
            self._settled = True
        context = house().run(house().memory.query(Scope(user=self._user), query, k=k, floor=0.0))
        return [hit.metadata["id"] for hit in context.raw]


def _has_sessions(memories: Sequence[Evidence]) -> bool:
    """Whether times are those of sessions, shared by what was said in them, or of single messages."""
    return len({memory[3] for memory in memories}) * 3 < len(memories)


def moment(text: str) -> datetime:
    for form in _FORMATS:
        try:
            return datetime.strptime(re.sub(r"\s+", " ", text.strip()), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return datetime(2024, 1, 1, tzinfo=UTC)


def make() -> Retriever:
    return Retriever()
