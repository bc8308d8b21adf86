"""Threads beside the loop, for calls that wait for a disk.

A call to a thread costs more than most of what is asked of one, so it is kept to what a loop needs: one queue to the
threads, and one wake-up of the loop. An executor, whose futures can be waited for without a loop, costs twice as much.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = tuple[asyncio.Future[Any], Callable[..., Any], tuple[Any, ...]]

T = TypeVar("T")


class ThreadPool:
    """Up to ``most`` threads, each started when all others are busy."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._under_way = 0

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """What ``work`` answers or raises, carried out in one of the threads."""
        self._under_way += 1
        if len(self._threads) < min(self._under_way, self._most):
            self._start()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls.put((future, work, args))
        return await future

    def close(self) -> None:
        """Wait for the calls that are under way; no other may follow."""
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()

    def _start(self) -> None:
        thread = threading.Thread(target=self._carry_out, name=f"{self._name}_{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _carry_out(self) -> None:
        while (call := self._calls.get()) is not None:
            future, work, args = call
            answer, failure = None, None
            try:
                answer = work(*args)
            except BaseException as error:  # noqa: BLE001 - it is the caller's
                failure = error
            with suppress(RuntimeError):  # a loop that was closed meanwhile waits for nothing
                future.get_loop().call_soon_threadsafe(self._settle, future, answer, failure)
            del call, future, work, args, answer, failure  # or they would live on until the next call

    def _settle(self, future: asyncio.Future[Any], answer: Any, failure: BaseException | None) -> None:
        self._under_way -= 1
        if future.done():  # who waited was cancelled
            return
        if failure is None:
            future.set_result(answer)
        else:
            future.set_exception(failure)
