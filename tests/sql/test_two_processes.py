"""Two processes on one PostgreSQL: they take turns, so that neither can number over the other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rememberd import wiring
from rememberd.memory import Memory
from rememberd.model import Scope
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from pathlib import Path

CALLS = 100  # of each kind


@pytest.mark.integration
def test_two_engines_on_one_database_number_a_thread_and_the_feed_without_gaps(tmp_path: Path) -> None:
    store = Store("postgresql", tmp_path, plain_settings())

    async def write() -> None:
        async with Memory((await wiring.open_server(store.url, store.settings)).engine) as other:
            both = (store.memory, other)
            receipts, _ = await asyncio.gather(
                asyncio.gather(
                    *(both[i % 2].ingest(Scope(user="lin", thread="t"), f"message {i}") for i in range(CALLS))
                ),
                asyncio.gather(*(both[i % 2].add(Scope(user="lin"), f"memory {i}") for i in range(CALLS))),
            )
        assert sorted(one.receipts[0].seq or 0 for one in receipts) == list(range(1, CALLS + 1))
        changes = await store.parts.storage.feed.read(0, 2 * CALLS + 1)
        assert [change.position for change in changes] == list(range(1, 2 * CALLS + 1))

    store.run(write())
    store.close()
