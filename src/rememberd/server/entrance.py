"""What every request passes before it is routed: its id, the Host check, HEAD, the access log, the last resort."""

from __future__ import annotations

import logging
import re
import time
import traceback
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect
from uuid_utils import uuid7

from rememberd import telemetry
from rememberd.errors import AccessDenied

from .problems import problem_of, problem_unexpected

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .gate import Gate

_REQUEST_ID = re.compile(rb"[\w.-]{1,64}", re.ASCII)


class Entrance:
    """A plain ASGI middleware. What it logs is method, route, status, time and id; never content."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = dict(scope["headers"])
        named = headers.get(b"x-request-id", b"")
        request_id = named.decode() if _REQUEST_ID.fullmatch(named) else str(uuid7())
        method = scope["method"]
        scope["request_id"] = request_id
        if method == "HEAD":
            scope["method"] = "GET"
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        try:
            self._gate.check_host(headers)
            await self._app(scope, receive, answer)
        except AccessDenied as failure:
            await problem_of(failure, request_id)(scope, receive, answer)
        except ClientDisconnect:
            status = 499
        except Exception as failure:
            _log_unexpected(failure, request_id)
            if status:
                raise
            await problem_unexpected(request_id)(scope, receive, answer)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", None)
            telemetry.observe("http_request", seconds)
            telemetry.log(
                "request", method=method, route=route, status=status, ms=round(seconds * 1000, 2), request_id=request_id
            )


def _log_unexpected(failure: Exception, request_id: str) -> None:
    """Where it broke, without the exception's own words: they may quote what a user said."""
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(failure.__traceback__)]
    telemetry.log("unexpected", level=logging.ERROR, error=type(failure).__name__, where=where, request_id=request_id)
