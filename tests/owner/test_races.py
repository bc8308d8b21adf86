"""Two owners at once: impossible, however many try."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from rememberd.backends.folder.owner import Ownership, owner_of
from rememberd.errors import FolderInUse

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized
    from pathlib import Path

RACES = 200
PROCESSES = 3
THREADS = 2

_spawn = multiprocessing.get_context("spawn")


def try_to_own(folder: Path) -> Ownership | None:
    try:
        return Ownership.take(folder)
    except FolderInUse:
        return None


def race(folder: Path, together: Any, winners: Synchronized[int], wrong: Synchronized[int]) -> None:
    """Start with the others, hold what was won until all have tried, and count the winners of each race."""
    with ThreadPoolExecutor(THREADS) as threads:
        for _ in range(RACES):
            together.wait()
            won = [one for one in threads.map(try_to_own, [folder] * THREADS) if one is not None]
            with winners.get_lock():
                winners.value += len(won)
            if together.wait() == 0:
                wrong.value += winners.value != 1
                winners.value = 0
            for ownership in won:
                ownership.release()
            together.wait()


def test_of_all_who_try_at_once_exactly_one_becomes_the_owner(tmp_path: Path) -> None:
    together, winners, wrong = _spawn.Barrier(PROCESSES, timeout=60), _spawn.Value("i", 0), _spawn.Value("i", 0)
    processes = [_spawn.Process(target=race, args=(tmp_path, together, winners, wrong)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    assert wrong.value == 0


def test_owners_come_one_after_another_never_side_by_side(tmp_path: Path) -> None:
    inside = threading.Semaphore(1)
    owned: list[int] = []

    def own_now_and_then() -> None:
        while len(owned) < RACES:
            ownership = try_to_own(tmp_path)
            if ownership is not None:
                assert inside.acquire(blocking=False)
                owned.append(1)
                card = owner_of(tmp_path)
                assert card is not None
                inside.release()
                ownership.release()

    with ThreadPoolExecutor(4) as threads:
        for trying in [threads.submit(own_now_and_then) for _ in range(4)]:
            trying.result()
    assert len(owned) >= RACES
