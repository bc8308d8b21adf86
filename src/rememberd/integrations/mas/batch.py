"""Batches of messages: collected, and recorded together."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from uuid_utils import uuid7

from rememberd import telemetry
from rememberd.errors import Conflict, Unavailable
from rememberd.flow.accept import accept_message
from rememberd.flow.check import Faults, check_message, check_scope
from rememberd.model import DEFAULT_TENANT, NewMessage, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from rememberd.memory import Memory
    from rememberd.model import Receipt

#: The names under which a message says where it belongs, the first that is there counts.
_PLACES = {
    "tenant": ("tenant", "namespace", "tenant_id"),
    "user": ("user", "user_id", "customer_id"),
    "thread": ("thread", "thread_id", "session_id", "conversation_id"),
    "agent": ("agent", "agent_name"),
}


class BatchMessageProcessor:
    """Records messages ``batch_size`` at a time, in order within each thread.

    A message leaves ``message_queue`` when it is recorded, or waits durably in the spool; so a flush that fails loses
    nothing, and the next one goes on with it. What is in the queue is in this process only: ``close`` flushes it.
    """

    def __init__(self, memory: Memory, batch_size: int = 100) -> None:
        if batch_size < 1:
            raise ValueError("batch_size must be at least 1")
        self._memory = memory
        self.batch_size = batch_size
        self.message_queue: list[tuple[Scope, NewMessage]] = []
        self._flushing = asyncio.Lock()

    async def add_message(self, message: Mapping[str, Any]) -> None:
        """Queue a message, and flush if the batch is full. Raises ``InvalidRequest`` for a message nobody could record.

        A flush that fails here does not stop the caller: the messages stay queued, and the log says so.
        """
        self.message_queue.append(_checked(message))
        if len(self.message_queue) >= self.batch_size:
            try:
                await self.flush_batch()
            except (Unavailable, Conflict) as failure:
                telemetry.log("batch_kept", level=logging.WARNING, messages=len(self.message_queue), error=failure.code)

    async def flush_batch(self) -> tuple[Receipt, ...]:
        """Record everything queued; answers a receipt per message, thread by thread.

        Raises what kept messages from being recorded, after all others were; those stay queued.
        """
        async with self._flushing:
            queued = list(self.message_queue)
            receipts: list[Receipt] = []
            failure: Unavailable | Conflict | None = None
            for scope in dict.fromkeys(scope for scope, _ in queued):
                mine = [message for whose, message in queued if whose == scope]
                try:
                    receipts += await self._record(scope, mine)
                except (Unavailable, Conflict) as refused:
                    failure = refused
            if failure is not None:
                raise failure
            return tuple(receipts)

    async def close(self) -> None:
        await self.flush_batch()

    async def __aenter__(self) -> BatchMessageProcessor:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _record(self, scope: Scope, messages: list[NewMessage]) -> list[Receipt]:
        receipts: list[Receipt] = []
        for start in range(0, len(messages), self.batch_size):
            batch = messages[start : start + self.batch_size]
            receipts += (await self._memory.ingest(scope, batch)).receipts
            recorded = {id(message) for message in batch}
            self.message_queue[:] = [each for each in self.message_queue if id(each[1]) not in recorded]
        return receipts


def _checked(message: Mapping[str, Any]) -> tuple[Scope, NewMessage]:
    """Where a message belongs, and the message with an idempotency key: a flush may be tried again."""
    said = dict(message)
    places = {}
    for field, names in _PLACES.items():
        given = [said.pop(name) for name in names if name in said]
        places[field] = next((place for place in given if place is not None), None)
    scope = Scope(places["tenant"] or DEFAULT_TENANT, places["user"], places["agent"], places["thread"])
    accepted = accept_message(said)
    faults = Faults()
    check_scope(faults, scope)
    check_message(faults, accepted, "")
    faults.raise_if_any()
    return scope, replace(accepted, idempotency_key=accepted.idempotency_key or str(uuid7()))
