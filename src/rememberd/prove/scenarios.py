"""THE table of how a server is brought to each crash point, besides clients that talk to it."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from rememberd import wiring
from rememberd.errors import RememberdError
from rememberd.model import NewMessage, Scope

from .served import Place, Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rememberd.client import RemoteEngine

_LOCK_PATIENCE = 10_000  # milliseconds
_LOOK_AGAIN = 0.05

#: The storage counts as out of reach soon, is tried again soon, and the spool's files are small.
_IMPATIENT = {
    "database.lock_timeout": "0.1",
    "failure_queue.first_pause": "0.05",
    "failure_queue.longest_pause": "0.2",
    "failure_queue.file_bytes": "4000",
    "failure_queue.max_attempts": "1",
}
_YOUNG = "young"


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is done besides.

    ``prepare`` changes the place before the server starts, ``provoke`` is done to the running one. It dies at one of
    the first ``passages``. ``folder_only``: no server passes the point that keeps its data elsewhere.
    """

    passages: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Place], Awaitable[None]] | None = None
    provoke: Callable[[Served], Awaitable[None]] | None = None
    folder_only: bool = False


async def _end_well(server: Served) -> None:
    server.send(signal.SIGTERM)


async def _clear_young(place: Place) -> None:
    shutil.rmtree(place.folder / _YOUNG, ignore_errors=True)


async def _back_up(server: Served) -> None:
    async with _client_of(server) as engine:
        async for _ in engine.operate.backup(server.place.folder / f"{secrets.token_hex(4)}.zip"):
            pass


async def _rebuild(server: Served) -> None:
    async with _client_of(server) as engine:
        async for _ in engine.operate.rebuild("index"):
            pass


async def _hold_storage(server: Served) -> None:
    """The storage cannot be written until the server is gone."""
    async with _held(server.place):
        await server.wait()


async def _hold_storage_for_a_while(server: Served) -> None:
    """The storage cannot be written until something waits for it."""
    async with _client_of(server) as engine, _held(server.place):
        while not (await engine.operate.stats()).spool:
            await asyncio.sleep(_LOOK_AGAIN)


async def _spool_poison(server: Served) -> None:
    """A message waits whose idempotency key turns out to stand for another one."""
    key = secrets.token_hex(4)
    scope = Scope(user="poisoner", thread=key)
    async with _client_of(server) as engine:
        await engine.ingest(scope, [NewMessage(role="user", content="first")], key)
        async with _held(server.place):
            await engine.ingest(scope, [NewMessage(role="user", content="second")], key)


@asynccontextmanager
async def _client_of(server: Served) -> AsyncIterator[RemoteEngine]:
    """A client who does not mind that the server dies."""
    engine = wiring.open_remote(server.url)
    try:
        with suppress(RememberdError):
            yield engine
    finally:
        await engine.close()


@asynccontextmanager
async def _held(place: Place) -> AsyncIterator[None]:
    """Another connection holds the storage, so that nobody else can write."""
    holder = apsw.Connection(str(place.folder / "memory" / "memory.db"))
    try:
        holder.set_busy_timeout(_LOCK_PATIENCE)
        await asyncio.to_thread(holder.execute, "BEGIN IMMEDIATE")
        try:
            yield
        finally:
            holder.execute("ROLLBACK")
    finally:
        holder.close()


SCENARIOS: dict[str, Scenario] = {
    "open.owned": Scenario(folder_only=True),
    "ingest.accepted": Scenario(passages=100),
    "commit.middle": Scenario(passages=50),
    "commit.done": Scenario(passages=50),
    "embed.middle": Scenario(passages=3, settings={"models.embedder": "test"}),
    "index.middle": Scenario(passages=5),
    "close.middle": Scenario(provoke=_end_well),
    "backup.middle": Scenario(provoke=_back_up, folder_only=True),
    "migration.middle": Scenario(prepare=_clear_young, settings={"data.folder": _YOUNG}, folder_only=True),
    "rebuild.middle": Scenario(provoke=_rebuild),
    "spool.rotate": Scenario(passages=3, settings=_IMPATIENT, provoke=_hold_storage, folder_only=True),
    "spool.replay": Scenario(settings=_IMPATIENT, provoke=_hold_storage_for_a_while, folder_only=True),
    "spool.dead_letter": Scenario(settings=_IMPATIENT, provoke=_spool_poison, folder_only=True),
}
