"""Threads beside the loop: calls that wait for a disk, and nobody else."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from rememberd.backends.pool import ThreadPool

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATIENCE = 10.0  # seconds, for what takes none if it works


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    pool = ThreadPool(2, "beside")
    yield pool
    pool.close()


def test_a_call_answers_what_its_work_answers_or_raises(pool: ThreadPool) -> None:
    def refused() -> None:
        raise KeyError("nothing of that name")

    async def calls() -> str:
        with pytest.raises(KeyError, match="nothing of that name"):
            await pool.run(refused)
        return await pool.run(lambda word: f"{word} {threading.current_thread().name}", "from")

    assert asyncio.run(calls()) == "from beside_0"


def test_calls_go_on_beside_each_other_up_to_the_most(pool: ThreadPool) -> None:
    both = threading.Barrier(2)
    seen: set[str] = set()

    def meet() -> None:
        both.wait(_PATIENCE)
        seen.add(threading.current_thread().name)

    async def calls() -> None:
        await asyncio.gather(*(pool.run(meet) for _ in range(6)))

    asyncio.run(calls())
    assert seen == {"beside_0", "beside_1"}


def test_the_threads_of_calls_that_were_given_up_serve_others(pool: ThreadPool) -> None:
    go_on = threading.Event()

    async def calls() -> str:
        given_up = [asyncio.ensure_future(pool.run(go_on.wait, _PATIENCE)) for _ in range(2)]
        await asyncio.sleep(0)
        for call in given_up:
            call.cancel()
        await asyncio.gather(*given_up, return_exceptions=True)
        waiting = asyncio.ensure_future(pool.run(str.upper, "served"))
        go_on.set()
        return await waiting

    assert asyncio.run(calls()) == "SERVED"


def test_a_thread_outlives_the_loop_that_it_works_for(pool: ThreadPool) -> None:
    go_on, ended = threading.Event(), threading.Event()
    left_alone: list[asyncio.Future[None]] = []

    def work() -> None:
        go_on.wait(_PATIENCE)
        ended.set()

    async def left() -> None:
        left_alone.extend(asyncio.ensure_future(pool.run(work)) for _ in range(2))
        await asyncio.sleep(0)

    asyncio.run(left())
    go_on.set()
    assert ended.wait(_PATIENCE)
    assert asyncio.run(asyncio.wait_for(pool.run(str.upper, "served"), _PATIENCE)) == "SERVED"


def test_closing_waits_for_what_is_under_way() -> None:
    pool, begun, go_on, ended = ThreadPool(1, "beside"), threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(_PATIENCE)
        ended.set()

    async def call() -> None:
        under_way = asyncio.ensure_future(pool.run(work))
        await asyncio.to_thread(begun.wait, _PATIENCE)
        threading.Timer(0.05, go_on.set).start()
        pool.close()
        assert ended.is_set()
        await under_way

    asyncio.run(call())
