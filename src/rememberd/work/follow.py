"""The followers of the feed: they keep vectors and index up with what was recorded."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from rememberd import telemetry
from rememberd.errors import RememberdError
from rememberd.flow.embed import Reembedding, embed_next
from rememberd.flow.index import BATCH, apply_next

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rememberd.flow.index import Rest
    from rememberd.ports.parts import Parts

# Callers come first. Changes are followed when none came for a while, or have waited for long.
_QUIET = 0.05
_PATIENCE = 1.0
_REST = 4.0  # times the work before: under load, most of the time belongs to callers
_LOOK_AGAIN = 1.0  # other processes do not nudge
_AFTER_FAILURE = 1.0


class Followers:
    """One task per follower. ``nudge`` says that there may be something to follow, ``hurry`` that somebody waits."""

    def __init__(self) -> None:
        self._nudged = 0.0
        self._hurried: set[str] = set()
        self._hurry = asyncio.Event()
        self._wake: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def nudge(self, *, hurry: bool = False) -> None:
        self._nudged = time.monotonic()
        if hurry:
            self._hurried.update(self._wake)
            self._hurry.set()
        for wake in self._wake.values():
            wake.set()

    def start(self, parts: Parts) -> None:
        steps: dict[str, Callable[[bool], Awaitable[bool]]] = {
            "index": lambda hurried: _index(parts, None if hurried else self._rest)
        }
        if parts.lanes.wanted:
            reembedding = Reembedding(parts.storage, parts.index, parts.lanes)
            steps["embed"] = lambda _: _embed(parts)
            steps["reembed"] = lambda _: _reembed(reembedding)
        self._wake = {name: asyncio.Event() for name in steps}
        self._tasks = [
            asyncio.create_task(self._follow(name, step), name=f"rememberd-{name}") for name, step in steps.items()
        ]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task

    async def _follow(self, name: str, step: Callable[[bool], Awaitable[bool]]) -> None:
        while True:
            self._wake[name].clear()
            try:
                while await step(name in self._hurried):
                    pass
                self._hurried.discard(name)
                if not self._hurried:
                    self._hurry.clear()
            except RememberdError as failure:
                telemetry.count(f"{name}_follower_failed")
                telemetry.log("follower_failed", level=logging.WARNING, follower=name, error=failure.code)
                await asyncio.sleep(_AFTER_FAILURE)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await self._wake[name].wait()
            await self._let_callers_go_first(name)

    async def _rest(self, worked: float) -> None:
        """Until it is enough for the work before, or somebody waits."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_REST * worked):
                await self._hurry.wait()

    async def _let_callers_go_first(self, name: str) -> None:
        patience = time.monotonic() + _PATIENCE
        while name not in self._hurried and time.monotonic() < min(patience, self._nudged + _QUIET):
            await asyncio.sleep(_QUIET / 2)


async def _index(parts: Parts, rest: Rest | None) -> bool:
    """Whether it is worth to go on at once: a few changes cost nearly as much as many, and can wait for company."""
    applied = await apply_next(parts.storage, parts.index, rest=rest)
    return applied == BATCH if rest else applied > 0


async def _embed(parts: Parts) -> bool:
    followed = await embed_next(parts.storage, parts.lanes) > 0
    if followed:
        await parts.recall.prepare()  # where things are remembered, questions will come
    return followed


async def _reembed(reembedding: Reembedding) -> bool:
    return await reembedding.next() > 0
