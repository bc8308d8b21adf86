"""Tests that measure time have the machine to themselves, and are not kept waiting for good."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

from tests.workers import turn

if TYPE_CHECKING:
    from pathlib import Path

A_MOMENT = 0.2


class Turn:
    """A test that runs until it may end."""

    def __init__(self, pool: ThreadPoolExecutor, folder: Path, *, alone: bool) -> None:
        self.began, self._may_end = Event(), Event()
        self._running = pool.submit(self._run, folder, alone)

    def _run(self, folder: Path, alone: bool) -> None:
        with turn(folder, alone=alone):
            self.began.set()
            assert self._may_end.wait(60)

    def end(self) -> None:
        self._may_end.set()
        self._running.result()


def test_others_run_side_by_side(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        tests = [Turn(pool, tmp_path, alone=False) for _ in range(2)]
        assert all(test.began.wait(60) for test in tests)
        for test in tests:
            test.end()


def test_one_that_is_alone_waits_for_those_who_run_and_nobody_overtakes_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        before = Turn(pool, tmp_path, alone=False)
        assert before.began.wait(60)
        alone = Turn(pool, tmp_path, alone=True)
        assert not alone.began.wait(A_MOMENT)
        behind = Turn(pool, tmp_path, alone=False)
        assert not behind.began.wait(A_MOMENT)
        before.end()
        assert alone.began.wait(60)
        assert not behind.began.wait(A_MOMENT)
        alone.end()
        assert behind.began.wait(60)
        behind.end()
