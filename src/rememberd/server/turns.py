"""/v1/turns: one request to an agent, from its message to how it ended."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from rememberd.client.wire import TurnAnswer, TurnEnd, turn_answer

from .answers import answer
from .bodies import TurnBody, TurnEndBody
from .call import Call
from .documents import IDEMPOTENCY_KEY
from .ingest import status_of
from .problems import documented
from .route import Route

router = APIRouter(prefix="/v1/turns", tags=["turns"], route_class=Route)

_ALSO: dict[int | str, dict[str, Any]] = {
    200: {"model": TurnAnswer, "description": "The message was recorded before."},
    202: {"model": TurnAnswer, "description": "The message waits on disk for the storage."},
}


@router.post(
    "",
    status_code=201,
    response_model=TurnAnswer,
    responses={**_ALSO, **documented(409, 507)},
    openapi_extra=IDEMPOTENCY_KEY,
)
async def begin(call: Call, body: TurnBody) -> Response:
    """Record a message and recall what matters for it."""
    turn = await call.engine.begin_turn(call.within(body), body.message.message(), body.asked(), call.idempotency_key)
    return answer(turn_answer(turn), status_of([turn.receipt]) if turn.receipt else 201)


@router.post("/{turn_id}/end", response_model=TurnEnd, responses=documented(404, 409, 507))
async def end(call: Call, turn_id: str, body: TurnEndBody) -> Response:
    """Record how a turn ended, and the reply if there is one."""
    reply = body.reply.message() if body.reply else None
    return answer(TurnEnd(await call.engine.end_turn(call.within(body), turn_id, body.outcome, reply, body.detail)))
