"""The application: the routes of every resource around one engine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.exceptions import HTTPException

from rememberd.version import __version__

from . import api_keys, docs, failures, health, history, ingest, memories, ops, query, settle, turns, window
from .documents import document
from .entrance import Entrance
from .problems import problem_of_http
from .reading import Limits
from .service import Service

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from .gate import Gate, ServedEngine

#: Those called most come first: routes are tried in order.
_RESOURCES = (ingest, query, turns, window, history, memories, settle, ops, failures, api_keys, health, docs)


def create_app(engine: ServedEngine, *, gate: Gate, limits: Limits | None = None) -> FastAPI:
    """The HTTP API over ``engine``. The caller opens the engine, and closes it after the server has stopped."""
    app = FastAPI(
        title="rememberd",
        version=__version__,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # rememberd.telemetry is the one way out
    )
    app.state.service = Service(engine, gate, limits or Limits())
    app.add_middleware(Entrance, gate=gate)
    app.add_exception_handler(HTTPException, _refuse)
    app.router.routes[:0] = [route for resource in _RESOURCES for route in resource.router.routes]
    app.openapi = partial(document, app)  # type: ignore[method-assign]
    return app


async def _refuse(request: Request, failure: Exception) -> Response:
    """Answer what no route of ours has answered."""
    assert isinstance(failure, HTTPException)
    return problem_of_http(failure, request.scope["request_id"], failure.headers)
