"""GET /v1/window: the last messages of a thread's session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from rememberd.model import Message, Page

from .answers import whole_list
from .asked import WindowAsked
from .call import Call
from .route import Route

router = APIRouter(prefix="/v1", tags=["record"], route_class=Route)


@router.get("/window", response_model=Page[Message])
async def window(call: Call, asked: Annotated[WindowAsked, Query()]) -> Response:
    """The window of a thread, oldest first; empty after its time to live, unless resumed."""
    return whole_list(await call.engine.window(call.within(asked), resume=asked.resume))
