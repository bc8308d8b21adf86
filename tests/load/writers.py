"""A client process: several writers append to one thread and print what was acknowledged, a line each.

``python -m tests.load.writers URL FIRST WRITERS APPENDS``
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from rememberd import connect
from rememberd.errors import Unavailable

if TYPE_CHECKING:
    from rememberd.memory import Memory


async def _write(memory: Memory, writer: int, appends: int) -> None:
    thread = memory.of(user="lin", thread="one")
    for number in range(appends):
        receipts = await thread.ingest(f"{writer} {number}")
        sys.stdout.write(json.dumps([writer, number, receipts.receipts[0].seq, receipts.receipts[0].id]) + "\n")
        sys.stdout.flush()


async def _main(url: str, first: int, writers: int, appends: int) -> None:
    """A server that has ended is no mistake of ours: what it acknowledged is what counts."""
    async with connect(url) as memory:
        working = [_write(memory, writer, appends) for writer in range(first, first + writers)]
        for ended in await asyncio.gather(*working, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, Unavailable):
                raise ended


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], *map(int, sys.argv[2:])))
