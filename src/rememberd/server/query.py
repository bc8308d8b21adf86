"""POST /v1/query: recall."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from rememberd.client.wire import QueryAnswer, query_answer

from .answers import answer
from .bodies import QueryBody
from .call import Call
from .route import Route

router = APIRouter(prefix="/v1", tags=["recall"], route_class=Route)


@router.post("/query", response_model=QueryAnswer)
async def query(call: Call, body: QueryBody) -> Response:
    """Find and rank what bears on the question, and pack it into the budget."""
    return answer(query_answer(await call.engine.query(call.within(body), body.asked())))
