"""rememberd for a harness that compares memory systems one call at a time, on an event loop of its own.

An adapter has ``open``, ``close``, ``add_one``, ``add_batch``, ``finish_load``, ``search``, ``window_append`` and
``window_read``; items are mappings with ``id``, ``text``, ``tenant_id``, ``user_id``, ``session_id`` and ``timestamp``.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import uvloop

import rememberd
from rememberd import Memory, Scope, wiring
from rememberd.errors import ModelUnavailable
from rememberd.model import Query
from rememberd.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

T = TypeVar("T")

#: The harness measures storage and retrieval; no system runs a model.
WITHOUT_MODELS = load_settings(given={"models.embedder": "none"})


class GivenVectors:
    """A lane with the harness's own vectors, which every system is given."""

    lane = "given"
    model = "harness"
    scale = (0.0, 0.2)
    window = 1_000_000
    absent = None
    recipe: ClassVar[dict[str, str]] = {}

    def __init__(self, embed: Callable[[str], Any], dimension: int) -> None:
        self._embed, self.dimension = embed, dimension

    def takes(self, text: str) -> bool:
        return True

    def asks(self, text: str) -> bool:
        return True

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        try:
            return [self._embed(text).astype("<f4").tobytes() for text in texts]
        except KeyError as unknown:
            raise ModelUnavailable("a text is not in the harness's table") from unknown

    async def check(self) -> None:
        """Always there."""

    async def close(self) -> None:
        """Nothing to let go of."""


class Rememberd:
    """The embedded store at its defaults: WAL, synchronous=FULL, every write audited."""

    vector: ClassVar[bool] = True
    window: ClassVar[bool] = True
    persistent: ClassVar[bool] = True
    tenant_search: ClassVar[bool] = True
    durability: ClassVar[str] = "SQLite WAL, synchronous=FULL; acknowledged after the commit"
    note: ClassVar[str] = "add_one = ingest of one message"
    fill: ClassVar[None] = None

    def __init__(self, path: str, embed: Callable[[str], Any], dim: int = 384) -> None:
        self._path = path

    def open(self) -> None:
        self._loop = uvloop.new_event_loop()
        self._memory: Memory = self._run(self._connect())

    def close(self) -> None:
        self._run(self._memory.close())
        self._loop.close()

    def add_one(self, item: Mapping[str, Any]) -> None:
        self._run(self._memory.ingest(_scope(item), _message(item)))

    def add_batch(self, items: Sequence[Mapping[str, Any]]) -> None:
        self._run(self._add_together(items))

    def finish_load(self) -> None:
        self._run(self._memory.settle(600))

    def search(self, text: str, vector: Any, k: int, tenant: str, user: str | None = None) -> list[int]:
        if user is None:
            context = self._run(self._memory.operate.query(tenant, Query(text=text, k=k)))
        else:
            context = self._run(self._memory.query(Scope(tenant, user), text, k=k))
        return [hit.metadata["number"] for hit in context.raw]

    def window_append(self, thread: str, role: str, text: str) -> None:
        self._run(self._memory.ingest(Scope(thread=thread), {"role": role, "content": text}))

    def window_read(self, thread: str, n: int) -> list[str]:
        return [message.content for message in self._run(self._memory.window(Scope(thread=thread)))[-n:]]

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(call)

    async def _connect(self) -> Memory:
        return await rememberd.connect(self._path, settings=WITHOUT_MODELS)

    async def _add_together(self, items: Sequence[Mapping[str, Any]]) -> None:
        await asyncio.gather(*(self._memory.ingest(_scope(item), _message(item)) for item in items))


class HybridRememberd(Rememberd):
    """The same with a vector for every message, made in the background from the harness's table; recall by both."""

    window: ClassVar[bool] = False
    note: ClassVar[str] = "words and vectors, neighbours, floor off; budget 0: the k best, no text"

    def __init__(self, path: str, embed: Callable[[str], Any], dim: int = 384) -> None:
        super().__init__(path, embed, dim)
        lane = GivenVectors(embed, dim)
        wiring.embedding.embedders = lambda settings: ((lane,), {})  # the harness's table is no setting

    def search(self, text: str, vector: Any, k: int, tenant: str, user: str | None = None) -> list[int]:
        query = Query(text=text, k=k, budget=0, floor=0.0)
        scope = Scope(tenant, user)
        asked = self._memory.operate.query(tenant, query) if user is None else self._memory.engine.query(scope, query)
        return [hit.metadata["number"] for hit in self._run(asked).raw]


class BlockingRememberd(Rememberd):
    """The same through ``rememberd.blocking``."""

    vector: ClassVar[bool] = False
    note: ClassVar[str] = "through rememberd.blocking"

    def open(self) -> None:
        self._blocking = rememberd.blocking.connect(self._path, settings=WITHOUT_MODELS)

    def close(self) -> None:
        self._blocking.close()

    def window_append(self, thread: str, role: str, text: str) -> None:
        self._blocking.ingest(Scope(thread=thread), {"role": role, "content": text})

    def window_read(self, thread: str, n: int) -> list[str]:
        return [message.content for message in self._blocking.window(Scope(thread=thread))[-n:]]


def _scope(item: Mapping[str, Any]) -> Scope:
    return Scope(item["tenant_id"], item["user_id"], None, item["session_id"])


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    at = datetime.fromtimestamp(item["timestamp"], UTC)
    return {"role": "user", "content": item["text"], "at": at, "metadata": {"number": item["id"]}}
