"""GET /v1/history: the record of a scope, read back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from rememberd.model import Message, Page

from .answers import answer
from .asked import HistoryAsked
from .call import Call
from .route import Route

router = APIRouter(prefix="/v1", tags=["record"], route_class=Route)


@router.get("/history", response_model=Page[Message])
async def history(call: Call, asked: Annotated[HistoryAsked, Query()]) -> Response:
    """The messages that this scope sees, newest first unless asked otherwise."""
    page = await call.engine.history(
        call.within(asked), order=asked.order, after=asked.after, limit=asked.limit, search=asked.search
    )
    return answer(page)
