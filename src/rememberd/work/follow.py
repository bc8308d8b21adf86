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
from rememberd.flow.index import apply_next

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rememberd.ports.parts import Parts

# Callers come first. Changes are followed when none came for a while, or have waited for long; and then in small
# steps with pauses, unless somebody waits for them.
_QUIET = 0.05
_PATIENCE = 0.5
_STEP = 24
_STRIDE = 500
_PAUSES = 2.0  # times the step before
_LOOK_AGAIN = 1.0  # other processes do not nudge
_AFTER_FAILURE = 1.0


class Followers:
    """One task per follower. ``nudge`` says that there may be something to follow, ``hurry`` that somebody waits."""

    def __init__(self) -> None:
        self._nudged = 0.0
        self._hurry = False
        self._wake: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def nudge(self, *, hurry: bool = False) -> None:
        self._nudged = time.monotonic()
        self._hurry = self._hurry or hurry
        for wake in self._wake.values():
            wake.set()

    def start(self, parts: Parts) -> None:
        steps: dict[str, Callable[[], Awaitable[int]]] = {
            "index": lambda: apply_next(parts.storage, parts.index, _STRIDE if self._hurry else _STEP)
        }
        if parts.lanes.wanted:
            steps["embed"] = lambda: embed_next(parts.storage, parts.lanes)
            steps["reembed"] = Reembedding(parts.storage, parts.index, parts.lanes).next
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

    async def _follow(self, name: str, step: Callable[[], Awaitable[int]]) -> None:
        while True:
            try:
                await self._let_callers_go_first()
                began = time.monotonic()
                while await step():
                    await asyncio.sleep(0 if self._hurry else _PAUSES * (time.monotonic() - began))
                    began = time.monotonic()
                self._hurry = False
            except RememberdError as failure:
                telemetry.count(f"{name}_follower_failed")
                telemetry.log("follower_failed", level=logging.WARNING, follower=name, error=failure.code)
                await asyncio.sleep(_AFTER_FAILURE)
            self._wake[name].clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await self._wake[name].wait()

    async def _let_callers_go_first(self) -> None:
        patience = time.monotonic() + _PATIENCE
        while not self._hurry and time.monotonic() < min(patience, self._nudged + _QUIET):
            await asyncio.sleep(_QUIET / 2)
