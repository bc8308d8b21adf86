"""rememberd ingest: the messages of a file, recorded; once each, however often it is run."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from rememberd.errors import RememberdError

from .command import command
from .lines import Reader
from .options import Address, Place
from .output import Output

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rememberd.memory import Memory
    from rememberd.model import Receipts, Scope

    from .lines import Batch, Line

_STDIN = Path("-")


@command
async def ingest(
    file: Annotated[Path, typer.Argument(help="JSONL; - is standard input.")],
    place: Place,
    address: Address,
    output: Output,
) -> None:
    """Record the messages of a JSONL file.

    A line is a message, {"role": "user", "content": "…"}, and may bring tenant, user, agent and thread of its own.
    Lines without any thread go to one that is made up. Run again after an interruption, each is recorded once.
    """
    counts: Counter[str] = Counter()
    threads: set[str] = set()
    with _opened(file) as lines, output.progress(f"recording {file.name}") as advance:
        total = None if file == _STDIN else file.stat().st_size
        async with place.connect() as memory:
            for batch in Reader(lines, address.scope).batches():
                for receipts in await _record(memory, batch):
                    threads.add(receipts.thread)
                    counts.update(receipt.status for receipt in receipts.receipts)
                advance(batch.end, total)
    by_status = {status: counts[status] for status in ("recorded", "duplicate", "spooled")}
    waiting = f", {counts['spooled']:,} waiting for the storage" if counts["spooled"] else ""
    told = f"{counts['recorded']:,} recorded, {counts['duplicate']:,} known before{waiting}; threads: {len(threads):,}"
    output.show({"messages": counts.total(), **by_status, "threads": len(threads)}, told)


def _opened(file: Path) -> AbstractContextManager[BinaryIO]:
    try:
        return nullcontext(sys.stdin.buffer) if file == _STDIN else file.open("rb")
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read: {error.strerror}") from error


async def _record(memory: Memory, batch: Batch) -> list[Receipts]:
    """Each thread's messages in their order, threads side by side. Raises the first failure when all have ended."""
    answers = await asyncio.gather(
        *(_record_in(memory, scope, lines) for scope, lines in batch.by_scope().items()), return_exceptions=True
    )
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in answers if not isinstance(answer, BaseException)]


async def _record_in(memory: Memory, scope: Scope, lines: list[Line]) -> Receipts:
    try:
        return await memory.ingest(scope, [line.message for line in lines])
    except RememberdError as failure:
        failure.detail = f"line {lines[0].number} and those of its thread: {failure.detail}"
        raise
