"""/v1/ops: the operator's calls, over all users of a tenant or over the whole store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from rememberd.client.wire import DroppedLane, QueryAnswer, encode, query_answer
from rememberd.errors import RememberdError
from rememberd.model import AuditEntry, Diagnosis, Job, LaneProgress, Page, Progress, Stats

from .answers import answer, whole_list
from .asked import AuditAsked, JobsAsked, StatsAsked
from .bodies import RebuildBody, TenantQueryBody
from .call import Call
from .problems import documented, problem_of
from .route import OperatorRoute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rememberd.ports.backups import Piece

router = APIRouter(prefix="/v1/ops", tags=["operate"], route_class=OperatorRoute)

_NDJSON = "application/x-ndjson"
_ZIP = "application/zip"
_PROGRESS: dict[int | str, dict[str, Any]] = {
    200: {"description": "How far the work has come, one line each.", "content": {_NDJSON: {}}}
}
_ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The archive.", "content": {_ZIP: {}}},
    **documented(501, 507),
}


@router.post("/query", response_model=QueryAnswer)
async def query(call: Call, body: TenantQueryBody) -> Response:
    """As /v1/query, over all users of a tenant."""
    return answer(query_answer(await call.engine.operate.query(call.tenant(body.tenant), body.asked())))


@router.get("/stats", response_model=Stats)
async def stats(call: Call, asked: Annotated[StatsAsked, Query()]) -> Response:
    """What a tenant holds, or the whole store."""
    return answer(await call.engine.operate.stats(asked.tenant))


@router.post("/rebuild", response_class=StreamingResponse, responses=_PROGRESS)
async def rebuild(call: Call, body: RebuildBody | None = None) -> Response:
    """Make a view again from storage. A line is a progress; a failure on the way is a last line, a problem."""
    asked = body or RebuildBody()
    steps = call.engine.operate.rebuild(asked.view, verify=asked.verify)
    first = await anext(steps, None)
    return StreamingResponse(_lines(first, steps, call.scope["request_id"]), media_type=_NDJSON)


@router.post("/backup", response_class=StreamingResponse, responses=_ARCHIVE)
async def backup(call: Call) -> Response:
    """Everything acknowledged before, as one archive for `rememberd restore`. One cut off lacks its seal."""
    pieces = call.engine.operate.backup_pieces()
    first = await _first_bytes(pieces)
    return StreamingResponse(_bytes(first, pieces), media_type=_ZIP)


@router.get("/audit", response_model=Page[AuditEntry])
async def audit(call: Call, asked: Annotated[AuditAsked, Query()]) -> Response:
    """Who did what, the latest first."""
    return answer(await call.engine.operate.audit(asked.tenant, after=asked.after, limit=asked.limit))


@router.get("/jobs", response_model=Page[Job])
async def jobs(call: Call, asked: Annotated[JobsAsked, Query()]) -> Response:
    """Background work."""
    return whole_list(await call.engine.operate.jobs(asked.state, asked.limit))


@router.get("/jobs/{job_id}", response_model=Job, responses=documented(404))
async def job(call: Call, job_id: str) -> Response:
    """One job, with its error if it failed."""
    return answer(await call.engine.operate.job(job_id))


@router.post("/jobs/{job_id}/retry", response_model=Job, responses=documented(404, 409))
async def retry_job(call: Call, job_id: str) -> Response:
    """Let a dead or cancelled job be tried anew."""
    return answer(await call.engine.operate.retry_job(job_id))


@router.post("/jobs/{job_id}/cancel", response_model=Job, responses=documented(404, 409))
async def cancel_job(call: Call, job_id: str) -> Response:
    """Give up a job that waits or runs."""
    return answer(await call.engine.operate.cancel_job(job_id))


@router.get("/doctor", response_model=Diagnosis)
async def doctor(call: Call) -> Response:
    """Each check with its cure, each setting with its origin."""
    return answer(await call.engine.operate.doctor())


@router.get("/lanes", response_model=Page[LaneProgress])
async def lanes(call: Call) -> Response:
    """Which models' vectors serve queries, which are coming, and which are only kept."""
    return whole_list(await call.engine.operate.lanes())


@router.delete("/lanes/{lane}/{model:path}", response_model=DroppedLane, responses=documented(404, 409, 507))
async def drop_lane(call: Call, lane: str, model: str) -> Response:
    """Let go of the vectors of a lane and model that are only kept. Repeating it goes on where it was interrupted."""
    return answer(DroppedLane(await call.engine.operate.drop_lane(lane, model)))


async def _lines(first: Progress | None, rest: AsyncIterator[Progress], request_id: str) -> AsyncIterator[bytes]:
    if first is None:
        return
    yield encode(first) + b"\n"
    try:
        async for progress in rest:
            yield encode(progress) + b"\n"
    except RememberdError as failure:
        yield bytes(problem_of(failure, request_id).body) + b"\n"


async def _first_bytes(pieces: AsyncIterator[Piece]) -> bytes:
    """Wait for them: all that is likely to fail has failed by then, and can still be a problem of its own."""
    async for piece in pieces:
        if piece.data:
            return piece.data
    return b""


async def _bytes(first: bytes, rest: AsyncIterator[Piece]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        if piece.data:
            yield piece.data
