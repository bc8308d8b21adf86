"""rememberd stats: what is stored, counted."""

from __future__ import annotations

from typing import Annotated

import typer

from .command import command
from .options import Place
from .output import Output
from .pictures import lane_line, table


@command
async def stats(
    place: Place,
    output: Output,
    tenant: Annotated[str | None, typer.Option("--tenant", help="One tenant instead of the whole store.")] = None,
) -> None:
    """Count what is stored, of one tenant or of the whole store."""
    async with place.connect() as memory:
        counts = await memory.operate.stats(tenant)
    counted = {
        "storage": counts.storage,
        "messages": f"{counts.messages:,}",
        "memories": f"{counts.memories:,}",
        "jobs": f"{counts.jobs.waiting:,} waiting, {counts.jobs.running:,} running, {counts.jobs.dead:,} dead",
        "spool": f"{counts.spool:,} waiting, {counts.dead_letters:,} dead letters",
        "index": f"{counts.index.applied:,} of {counts.index.head:,} changes applied",
        "tokens": f"{counts.tokens.raw:,} raw, {counts.tokens.condensed:,} condensed, {counts.tokens.saved:,} saved",
    } | {work: f"{progress.done:,} of {progress.total:,}" for work, progress in counts.under_way.items()}
    shape = table("", "the whole store" if tenant is None else f"tenant {tenant}")
    for name, value in counted.items():
        shape.add_row(name, value)
    for lane in counts.lanes:
        shape.add_row(f"lane {lane.lane}", lane_line(lane))
    output.show(counts, shape)
