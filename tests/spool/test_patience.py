"""A call has one time-out, whatever it waits for."""

from __future__ import annotations

import asyncio

import pytest

from rememberd import patience


async def _ask() -> float:
    """A question that takes a moment; answers how much of a second was left for it."""
    left = patience.left(1.0)
    await asyncio.sleep(0.05)
    return left


@patience.one_call
async def _ask_twice() -> tuple[float, float]:
    return await _ask(), await _ask()


def test_what_one_question_took_the_next_has_no_more() -> None:
    first, second = asyncio.run(_ask_twice())
    assert first == pytest.approx(1.0, abs=0.02)
    assert second <= 0.95


def test_every_call_begins_anew_and_outside_of_calls_each_question_has_all() -> None:
    async def calls() -> list[float]:
        return [(await _ask_twice())[0], (await _ask_twice())[0], await _ask(), await _ask()]

    assert asyncio.run(calls()) == pytest.approx([1.0] * 4, abs=0.02)


def test_a_call_within_a_call_is_a_part_of_it() -> None:
    @patience.one_call
    async def outer() -> float:
        await _ask_twice()
        return (await _ask_twice())[0]

    assert asyncio.run(outer()) <= 0.9


def test_time_runs_out_and_not_below_nothing() -> None:
    @patience.one_call
    async def late() -> float:
        await _ask()
        return patience.left(0.01)

    assert asyncio.run(late()) == 0.0


def test_the_time_that_a_caller_takes_is_the_callers() -> None:
    @patience.one_call
    async def upload() -> float:
        with patience.waiting_for_the_caller():
            await asyncio.sleep(0.1)
        return patience.left(1.0)

    assert asyncio.run(upload()) == pytest.approx(1.0, abs=0.05)
