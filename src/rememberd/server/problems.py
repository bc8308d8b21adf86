"""What went wrong, as application/problem+json (RFC 9457). The one place that knows which error has which status."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from rememberd.client.wire import Problem, encode
from rememberd.errors import (
    AccessDenied,
    Conflict,
    Fault,
    InvalidRequest,
    NotAuthenticated,
    NotFound,
    RememberdError,
    StaleRevision,
    StorageFull,
    TooLarge,
    Unavailable,
    Unsupported,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.exceptions import HTTPException

MEDIA_TYPE = "application/problem+json"

#: More faults than this are counted, not listed.
LISTED_FAULTS = 1000

_STATUS: dict[type[RememberdError], int] = {
    TooLarge: 413,
    InvalidRequest: 422,
    NotAuthenticated: 401,
    AccessDenied: 403,
    NotFound: 404,
    Conflict: 409,
    StorageFull: 507,
    Unavailable: 503,
    Unsupported: 501,
}

_TITLES = {
    401: "An API key is needed",
    403: "The caller may not do this",
    404: "There is no such thing here",
    405: "The route does not take this method",
    409: "The request disagrees with what is stored",
    412: "Somebody revised it in between",
    413: "The request is too large",
    415: "The body is not JSON",
    422: "The request is wrong",
    500: "Something broke on our side",
    501: "This store cannot do that",
    503: "Try again later",
    507: "The storage is full",
}

_HEADERS = {
    401: {"WWW-Authenticate": "Bearer"},
    503: {"Retry-After": "1"},
    507: {"Retry-After": "30"},
}

_CODES = {405: "method_not_allowed", 415: "unsupported_media_type", 404: "not_found"}


def problem_of(failure: RememberdError, request_id: str, *, conditional: bool = False) -> Response:
    """The answer to an error of ours. ``conditional``: the request named the revision it expected."""
    status = 412 if conditional and isinstance(failure, StaleRevision) else _status(failure)
    faults = failure.faults if isinstance(failure, InvalidRequest) else ()
    return _problem(status, failure.code, failure.detail, request_id, retryable=failure.retryable, faults=faults)


def problem_of_http(failure: HTTPException, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to what the framework refuses: an unknown route, another method, another kind of body."""
    code = _CODES.get(failure.status_code, "http")
    return _problem(failure.status_code, code, failure.detail, request_id, headers=headers)


def problem_unexpected(request_id: str) -> Response:
    """The answer to an error nobody foresaw: no details; the log has them under the request's id."""
    return _problem(500, "unexpected", "The log has more under this request's id.", request_id)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer, for its OpenAPI entry."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": _title(status), "content": content} for status in statuses}


def _status(failure: RememberdError) -> int:
    return next((_STATUS[kind] for kind in type(failure).__mro__ if kind in _STATUS), 500)


def _title(status: int) -> str:
    return _TITLES.get(status) or HTTPStatus(status).phrase


def _problem(
    status: int,
    code: str,
    detail: str,
    request_id: str,
    *,
    retryable: bool = False,
    faults: tuple[Fault, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    if len(faults) > LISTED_FAULTS:
        rest = Fault("", f"and {len(faults) - LISTED_FAULTS} more")
        faults = (*faults[:LISTED_FAULTS], rest)
    problem = Problem(
        type=f"urn:rememberd:problem:{code}",
        title=_title(status),
        status=status,
        detail=detail,
        instance=request_id,
        code=code,
        retryable=retryable,
        errors=faults,
    )
    return Response(encode(problem), status, {**_HEADERS.get(status, {}), **(headers or {})}, MEDIA_TYPE)
