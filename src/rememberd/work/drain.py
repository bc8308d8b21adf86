"""The drain: brings what waits in the spool into the storage, in order within each thread, until nothing waits."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from rememberd import crash, telemetry
from rememberd.errors import (
    Conflict,
    IdempotencyConflict,
    InvalidRequest,
    NotFound,
    RememberdError,
    StorageFull,
    ThreadTaken,
    Unavailable,
)
from rememberd.flow.window import follow_append
from rememberd.ports.feed import Advance
from rememberd.ports.spool import Attempt, DeadLetter, Replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.flow.spool import Spooler
    from rememberd.model import DrainRule
    from rememberd.ports.parts import Parts
    from rememberd.ports.spool import SpooledCall

_LONG = 0.25  # seconds that the calls which are replayed together should not take

#: What the storage will say again, however often it is asked.
_FINAL = (IdempotencyConflict, ThreadTaken, NotFound, InvalidRequest)


class Drain:
    """One task. While the storage is out it looks again after pauses that grow. A slow storage gets fewer at once,
    so that others find room between them. A call that the storage refuses holds up its own thread only, and after its
    last attempt becomes a dead letter."""

    def __init__(self, parts: Parts, spooler: Spooler, rule: DrainRule) -> None:
        self._parts, self._spooler, self._rule = parts, spooler, rule
        self._failed = 0
        self._batch = rule.batch_size
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._spooler.when_engaged = self._wake.set
        if self._spooler.engaged:
            self._wake.set()
        self._task = asyncio.create_task(self._drain(), name="rememberd-drain")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _drain(self) -> None:
        while True:
            await self._wake.wait()
            try:
                pause = await self._step()
            except Exception as failure:  # noqa: BLE001 - the drain must live on, whatever the spool's disk does
                telemetry.log("drain_failed", level=logging.ERROR, error=type(failure).__name__)
                pause = self._back_off()
            if not self._spooler.engaged:
                self._wake.clear()
            elif pause:
                await asyncio.sleep(pause)

    async def _step(self) -> float:
        """Replay the next calls together. Answers how long to wait before the next step."""
        now = time.monotonic()
        held = self._spooler.held = {each: until for each, until in self._spooler.held.items() if until > now}
        calls = await self._parts.spool.read(self._spooler.due(self._batch))
        if not calls:
            return min(held.values(), default=now) - now
        try:
            await self._replay(calls)
        except Exception as failure:  # noqa: BLE001 - whatever one call is refused for must not keep the others
            self._batch = max(1, self._batch // 4)
            if await self._is_outage(failure) or not await self._one_by_one(calls):
                return self._back_off()
        else:
            took = time.monotonic() - now
            if took < _LONG / 2:
                self._batch = min(self._rule.batch_size, self._batch * 2)
            elif took > _LONG:
                self._batch = max(1, self._batch * 2 // 3)
        self._failed = 0
        return 0

    async def _one_by_one(self, calls: Sequence[SpooledCall]) -> bool:
        """Each call for itself, but none whose thread is held up. False if the storage is out."""
        for call in calls:
            if (call.tenant, call.thread) in self._spooler.held:
                continue
            try:
                await self._replay([call])
            except Exception as failure:  # noqa: BLE001 - counted, and in the end kept with its reason
                if await self._is_outage(failure):
                    return False
                await self._refused(call, failure)
        return True

    def _back_off(self) -> float:
        """Longer each time, and never the same for two processes."""
        self._failed += 1
        return self._rule.pause_after(self._failed) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret

    async def _replay(self, calls: Sequence[SpooledCall]) -> None:
        parts = self._parts
        answers = await parts.storage.write(Replay(calls=tuple(calls)))
        crash.point("spool.replay")
        self._spooler.outage = None
        for call, receipts in zip(calls, answers, strict=True):
            if call.append is not None and receipts is not None:
                await follow_append(parts.windows, call.append, receipts, parts.policy.window_of(call.tenant))
        await self._spooler.done([call.id for call in calls])
        telemetry.count("spool_replayed", len(calls))
        parts.nudge()

    async def _is_outage(self, failure: Exception) -> bool:
        """Whether the storage accepts nothing now, rather than refuses a call for what it is."""
        if not isinstance(failure, Unavailable):
            return False
        if not isinstance(failure, StorageFull):
            try:
                await self._parts.storage.write(Advance("spool", int(self._parts.clock().timestamp())))
            except Unavailable as still:
                failure = still
            else:
                self._spooler.outage = None
                return False
        self._spooler.outage = failure.detail
        return True

    async def _refused(self, call: SpooledCall, failure: Exception) -> None:
        """Count the attempt; after the last the call is a dead letter."""
        spool = self._parts.spool
        before = await spool.last_attempt(call.id)
        attempt = Attempt(
            id=call.id,
            number=before.number + 1 if before else 1,
            reason=_reason(failure),
            detail=failure.detail if isinstance(failure, RememberdError) else type(failure).__name__,
            at=self._parts.clock(),
        )
        if isinstance(failure, _FINAL) or attempt.number >= self._rule.max_attempts:
            await self._spooler.bury(DeadLetter(call=call, last=attempt))
            telemetry.count("dead_letters")
            telemetry.log("dead_letter", level=logging.ERROR, call=call.id, reason=attempt.reason)
            return
        await spool.note(attempt)
        self._spooler.held[call.tenant, call.thread] = time.monotonic() + self._rule.pause_after(attempt.number)


def _reason(failure: Exception) -> str:
    if isinstance(failure, Conflict):
        return Conflict.code
    return failure.code if isinstance(failure, RememberdError) else "unexpected"
