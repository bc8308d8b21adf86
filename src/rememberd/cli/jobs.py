"""rememberd jobs: the background work that is owed, under way, done, or dead with its error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .command import command
from .options import Limit, Place
from .output import Output
from .pictures import moment, said, table

if TYPE_CHECKING:
    from rich.table import Table

    from rememberd.model import Job

jobs = typer.Typer(rich_markup_mode=None)

JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]


@jobs.command("list")
@command
async def list_jobs(
    place: Place,
    output: Output,
    state: Annotated[
        Literal["waiting", "running", "done", "dead", "cancelled"] | None, typer.Option("--state", help="Only these.")
    ] = None,
    limit: Limit = 50,
) -> None:
    """List jobs in the order they were owed."""
    async with place.connect() as memory:
        found = await memory.operate.jobs(state, limit)
    output.show({"items": found, "next": None}, _jobs_table(found))


@jobs.command("show")
@command
async def show(job_id: JobId, place: Place, output: Output) -> None:
    """Show one job, with its error if it failed."""
    async with place.connect() as memory:
        job = await memory.operate.job(job_id)
    shape = table("", "")
    for name in ("id", "task", "tenant", "state", "attempts", "max_attempts", "created_at", "due_at", "error"):
        value = getattr(job, name)
        shape.add_row(name, said("" if value is None else str(value)))
    output.show(job, shape)


@jobs.command("retry")
@command
async def retry(job_id: JobId, place: Place, output: Output) -> None:
    """Let a dead or cancelled job be tried anew, at once."""
    async with place.connect() as memory:
        job = await memory.operate.retry_job(job_id)
    output.show(job, f"{job.id} is waiting again.")


@jobs.command("cancel")
@command
async def cancel(job_id: JobId, place: Place, output: Output) -> None:
    """Give up a job that waits or runs."""
    async with place.connect() as memory:
        job = await memory.operate.cancel_job(job_id)
    output.show(job, f"{job.id} is cancelled.")


def _jobs_table(found: tuple[Job, ...]) -> Table:
    shape = table("id", "task", "tenant", "state", "attempts", "due", "error")
    for job in found:
        tries = f"{job.attempts} of {job.max_attempts}"
        shape.add_row(
            said(job.id), job.task, said(job.tenant), job.state, tries, moment(job.due_at), said(job.error or "")
        )
    return shape
