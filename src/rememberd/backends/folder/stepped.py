"""Long work on files, done in a thread step by step."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

T = TypeVar("T")


async def stepped(steps: Generator[T, None, None]) -> AsyncGenerator[T, None]:
    """What the generator yields. Given up, it is closed after the step under way, so that it can clear up."""
    loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, thread_name_prefix="rememberd-steps")
    try:
        while (step := await loop.run_in_executor(thread, next, steps, None)) is not None:
            yield step
    finally:
        await loop.run_in_executor(thread, steps.close)
        thread.shutdown(wait=False)
