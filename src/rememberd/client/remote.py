"""The engine of a server elsewhere: each verb is one call, with the results and errors it has at home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from uuid_utils import uuid7

from rememberd.model import MemoryItem, Message, Page, Receipts

from .connection import Connection
from .operations import RemoteOperations
from .sending import (
    filter_parameters,
    memory_fields,
    message_fields,
    page_parameters,
    query_fields,
    scope_fields,
    scope_parameters,
)
from .wire import QueryAnswer, TurnAnswer, TurnEnd, context_of, turn_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx2

    from rememberd.model import (
        Context,
        Filters,
        MemoryPatch,
        NewMemory,
        NewMessage,
        Outcome,
        Query,
        Receipt,
        Scope,
        Turn,
    )
    from rememberd.ports.records import Order
    from rememberd.verbs import Operations

_ALIVE = 3.0  # seconds in which a server that works tells so

_receipts = msgspec.json.Decoder(Receipts).decode
_answer = msgspec.json.Decoder(QueryAnswer).decode
_messages = msgspec.json.Decoder(Page[Message]).decode
_item = msgspec.json.Decoder(MemoryItem).decode
_items = msgspec.json.Decoder(Page[MemoryItem]).decode
_turn = msgspec.json.Decoder(TurnAnswer).decode
_turn_end = msgspec.json.Decoder(TurnEnd).decode


class RemoteEngine:
    """The verbs of memory on the server at ``url``.

    What may be asked twice is tried a few times; a write only under an idempotency key, which it is given if it has
    none. A server that does not answer is ``ServerUnreachable``. ``transport`` replaces the network in tests.
    """

    def __init__(
        self, url: str, api_key: str | None = None, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._server = Connection(url, api_key, transport)
        self._operate = RemoteOperations(self._server)

    async def ping(self) -> None:
        """Raise ``ServerUnreachable`` unless the server answers."""
        await self._server.get("/healthz", timeout=_ALIVE)

    async def ingest(self, scope: Scope, messages: Sequence[NewMessage], idempotency_key: str | None) -> Receipts:
        body = {**scope_fields(scope), "messages": [message_fields(message) for message in messages]}
        return _receipts(await self._server.post("/v1/ingest", body, idempotency_key=_key(idempotency_key)))

    async def query(self, scope: Scope, query: Query) -> Context:
        body = {**scope_fields(scope), **query_fields(query)}
        return context_of(_answer(await self._server.post("/v1/query", body, repeatable=True)))

    async def history(
        self, scope: Scope, *, order: Order, after: str | None, limit: int, search: str | None
    ) -> Page[Message]:
        asked = [*scope_parameters(scope), *page_parameters(after, limit), ("order", order)]
        if search is not None:
            asked.append(("search", search))
        return _messages(await self._server.get("/v1/history", asked))

    async def window(self, scope: Scope, *, resume: bool) -> tuple[Message, ...]:
        asked = [*scope_parameters(scope), ("resume", "true" if resume else "false")]
        return _messages(await self._server.get("/v1/window", asked)).items

    async def add(self, scope: Scope, memory: NewMemory, idempotency_key: str | None) -> MemoryItem:
        body = {**scope_fields(scope), **memory_fields(memory)}
        return _item(await self._server.post("/v1/memories", body, idempotency_key=_key(idempotency_key)))

    async def get(self, scope: Scope, memory_id: str) -> MemoryItem:
        return _item(await self._server.get(_path(memory_id), scope_parameters(scope)))

    async def list(self, scope: Scope, filters: Filters, *, after: str | None, limit: int) -> Page[MemoryItem]:
        asked = [*scope_parameters(scope), *page_parameters(after, limit), *filter_parameters(filters)]
        return _items(await self._server.get("/v1/memories", asked))

    async def revise(self, scope: Scope, memory_id: str, patch: MemoryPatch, expected: int | None) -> MemoryItem:
        changes = memory_fields(patch)
        return _item(await self._server.patch(_path(memory_id), scope_parameters(scope), changes, expected))

    async def delete(self, scope: Scope, memory_id: str, expected: int | None) -> None:
        await self._server.delete(_path(memory_id), scope_parameters(scope), expected)

    async def versions(self, scope: Scope, memory_id: str) -> tuple[MemoryItem, ...]:
        return _items(await self._server.get(f"{_path(memory_id)}/versions", scope_parameters(scope))).items

    async def begin_turn(self, scope: Scope, message: NewMessage, query: Query, idempotency_key: str | None) -> Turn:
        body = {**scope_fields(scope), **query_fields(query), "message": message_fields(message)}
        return turn_of(_turn(await self._server.post("/v1/turns", body, idempotency_key=_key(idempotency_key))))

    async def end_turn(
        self, scope: Scope, turn_id: str, outcome: Outcome, reply: NewMessage | None, detail: dict[str, Any]
    ) -> Receipt | None:
        body = {**scope_fields(scope), "outcome": outcome, "detail": detail}
        if reply is not None:
            body["reply"] = message_fields(reply)
        path = f"/v1/turns/{quote(turn_id, safe='')}/end"
        return _turn_end(await self._server.post(path, body, repeatable=True)).receipt

    @property
    def operate(self) -> Operations:
        return self._operate

    async def close(self) -> None:
        await self._server.close()


def _key(given: str | None) -> str:
    """A key of its own makes a call's retries harmless."""
    return str(uuid7()) if given is None else given


def _path(memory_id: str) -> str:
    return f"/v1/memories/{quote(memory_id, safe='')}"
