"""POST /v1/settle: wait until everything acknowledged so far is searchable."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from rememberd.model import Settled

from .answers import answer
from .bodies import SettleBody
from .call import Call
from .route import OperatorRoute

router = APIRouter(prefix="/v1", tags=["operate"], route_class=OperatorRoute)


@router.post("/settle", response_model=Settled)
async def settle(call: Call, body: SettleBody | None = None) -> Response:
    """Wait for the views to catch up with the whole store; `settled` is false when time ran out."""
    return answer(await call.engine.operate.settle((body or SettleBody()).timeout))
