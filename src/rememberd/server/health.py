"""Whether the server lives, whether it is ready, and what it counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from rememberd import telemetry

from .answers import answer
from .call import Call
from .route import OperatorRoute, PublicRoute

if TYPE_CHECKING:
    from .service import Service

router = APIRouter(tags=["health"], route_class=PublicRoute)
_operators = APIRouter(tags=["health"], route_class=OperatorRoute)


@dataclass(frozen=True, slots=True)
class Health:
    status: Literal["ok"] = "ok"


@dataclass(frozen=True, slots=True)
class Readiness:
    """``degraded`` says what is missing; writes are accepted all the same."""

    status: Literal["ok", "degraded"]
    degraded: tuple[str, ...] = ()


@router.get("/healthz", response_model=Health)
async def healthz(call: Call) -> Response:
    """The process lives."""
    return answer(Health())


@router.get("/readyz", response_model=Readiness)
async def readyz(call: Call) -> Response:
    """Writes are accepted. A problem, 503, while they are not."""
    service: Service = call.app.state.service
    degraded = await service.engine.ready()
    return answer(Readiness("degraded" if degraded else "ok", degraded))


@_operators.get("/metrics", response_class=PlainTextResponse)
async def metrics(call: Call) -> Response:
    """Counters and timers in the text format of Prometheus."""
    return PlainTextResponse(telemetry.render(), media_type="text/plain; version=0.0.4")


router.routes.extend(_operators.routes)
