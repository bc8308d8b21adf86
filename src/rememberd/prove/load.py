"""Clients that talk all the time, note what was acknowledged, and say again what was not."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rememberd import wiring
from rememberd.errors import RememberdError
from rememberd.model import NewMessage, Scope

from .verdict import NUMBER, Acknowledged, judge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rememberd.model import Message
    from rememberd.verbs import Engine

    from .verdict import Verdict

USER = "prover"
_PAUSE = 0.02
_PAGE = 1000


class Load:
    """``clients`` talk to the server at ``url``, one message after another; every other one in a thread of all.

    No two loads of one store may have the same ``name``.

    A message that was not acknowledged is sent again with its idempotency key, for as long as it takes.
    """

    def __init__(self, url: str, clients: int, name: str) -> None:
        self.acknowledged: list[Acknowledged] = []
        self._engine = wiring.open_remote(url)
        self._clients = [f"{name}/client-{number}" for number in range(clients)]
        self._shared = f"{name}/all"
        self._resting = asyncio.Event()
        self._more = asyncio.Event()
        self._seen: dict[str, list[Message]] = {}
        self._judged = 0

    @asynccontextmanager
    async def talking(self) -> AsyncIterator[None]:
        """Clients talk while the block runs; at its end everything they said was acknowledged."""
        self._resting.clear()
        try:
            async with asyncio.TaskGroup() as clients:
                for number, client in enumerate(self._clients):
                    clients.create_task(self._talk(client, self._shared if number % 2 else client))
                yield
                self._resting.set()
        finally:
            self._resting.set()

    async def one_more(self, patience: float = 30.0) -> None:
        """Wait for the next acknowledgement. Raises ``TimeoutError``."""
        self._more.clear()
        await asyncio.wait_for(self._more.wait(), patience)

    async def judge_newest(self) -> Verdict:
        """Judge what was acknowledged since the last judgement, from what the server has in addition."""
        acknowledged, self._judged = self.acknowledged[self._judged :], len(self.acknowledged)
        await drained(self._engine)
        for thread in {one.thread for one in acknowledged}:
            seen = self._seen.setdefault(thread, [])
            seen += await read_thread(self._engine, thread, seen[-1].seq if seen else 0)
        return judge(acknowledged, self._seen)

    async def judge_all(self) -> Verdict:
        """Judge everything that was ever acknowledged, from the whole record."""
        await drained(self._engine)
        threads = {one.thread for one in self.acknowledged}
        return judge(self.acknowledged, {thread: await read_thread(self._engine, thread) for thread in threads})

    async def close(self) -> None:
        await self._engine.close()

    async def _talk(self, client: str, thread: str) -> None:
        scope = Scope(user=USER, thread=thread)
        for number in itertools.count(1):
            if self._resting.is_set():
                return
            said = NewMessage(
                role="user", name=client, content=f"{client} says {number}", metadata={NUMBER: number},
                idempotency_key=f"{client}-{number}",
            )  # fmt: skip
            self.acknowledged.append(await self._until_acknowledged(scope, said))
            self._more.set()

    async def _until_acknowledged(self, scope: Scope, said: NewMessage) -> Acknowledged:
        while True:
            try:
                receipts = await self._engine.ingest(scope, [said], None)
            except RememberdError as failure:
                if not failure.retryable:
                    raise
                await asyncio.sleep(_PAUSE)
            else:
                receipt = receipts.receipts[0]
                return Acknowledged(receipts.thread, receipt.id, receipt.seq, said.content)


async def drained(engine: Engine, patience: float = 60.0) -> None:
    """Wait until nothing is left in the spool. Raises ``TimeoutError``."""
    async with asyncio.timeout(patience):
        while (await engine.operate.stats()).spool:
            await asyncio.sleep(_PAUSE)


async def read_thread(engine: Engine, thread: str, beyond: int = 0) -> list[Message]:
    """The messages of a thread with a sequence number above ``beyond``, oldest first."""
    found: list[Message] = []
    after: str | None = None
    while True:
        page = await engine.history(
            Scope(user=USER, thread=thread), order="newest", after=after, limit=_PAGE, search=None
        )
        found += (message for message in page.items if message.seq > beyond)
        if page.next is None or page.items[-1].seq <= beyond:
            return found[::-1]
        after = page.next
