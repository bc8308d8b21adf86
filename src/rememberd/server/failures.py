"""/v1/ops/failures: calls that wait for the storage, and dead letters."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from rememberd.client.wire import Replayed
from rememberd.errors import NotFound
from rememberd.model import Failure, Page

from .answers import answer
from .asked import FailuresAsked
from .call import Call
from .problems import documented
from .route import OperatorRoute

router = APIRouter(prefix="/v1/ops/failures", tags=["operate"], route_class=OperatorRoute)


@router.get("", response_model=Page[Failure])
async def list_failures(call: Call, asked: Annotated[FailuresAsked, Query()]) -> Response:
    """What waits for the storage and what failed for good, oldest first, without messages."""
    return answer(await call.engine.operate.failures(asked.state, after=asked.after, limit=asked.limit))


@router.post("/replay", response_model=Replayed, responses=documented(507))
async def replay_all(call: Call) -> Response:
    """Let all dead letters wait for the storage again."""
    return answer(Replayed(await call.engine.operate.replay_failures()))


@router.get("/{failure_id}", response_model=Failure, responses=documented(404))
async def show(call: Call, failure_id: str) -> Response:
    """One of them, with its messages."""
    return answer(await call.engine.operate.failure(failure_id))


@router.post("/{failure_id}/replay", response_model=Replayed, responses=documented(404, 507))
async def replay(call: Call, failure_id: str) -> Response:
    """Let a dead letter wait for the storage again."""
    return answer(Replayed(await call.engine.operate.replay_failures(failure_id)))


@router.delete("/{failure_id}", status_code=204, responses=documented(404, 507))
async def discard(call: Call, failure_id: str) -> Response:
    """Give a dead letter up for good."""
    if not await call.engine.operate.discard_failure(failure_id):
        raise NotFound("There is no dead letter of this id.")
    return Response(status_code=204)
