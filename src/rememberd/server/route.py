"""How a route is served: let the caller in, read the request, ask the endpoint, answer problems as problems.

FastAPI reads an endpoint's signature for the OpenAPI document; serving it is ours, because the general way costs more
than many a call itself. An endpoint takes its ``call``; its ``body`` and what is ``asked`` in the query string, if it
has them; and the parameters of its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_type_hints

from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from rememberd.errors import RememberdError
from rememberd.guard.access import permit_operator
from rememberd.patience import one_call, waiting_for_the_caller

from .asked import Asked
from .call import Call
from .problems import documented, problem_of, problem_of_http
from .reading import parse_body, parse_query, read_body

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Send
    from starlette.types import Scope as Connection

    from .service import Service

Access = Literal["public", "tenant", "operator"]


class Route(APIRoute):
    """A route for the callers of a tenant, and for the operator."""

    access: ClassVar[Access] = "tenant"

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        hints = get_type_hints(endpoint, include_extras=True)
        self._body = TypeAdapter(hints["body"]) if "body" in hints else None
        self._asked: type[Asked] | None = hints["asked"].__origin__ if "asked" in hints else None
        self._serve = one_call(self._answer) if self.access == "tenant" else self._answer
        problems = documented(*self._refusals())
        super().__init__(path, endpoint, **{**options, "responses": problems | (options.get("responses") or {})})

    async def handle(self, scope: Connection, receive: Receive, send: Send) -> None:
        response = await self._respond(Call(scope, receive))
        await response(scope, receive, send)

    async def _respond(self, call: Call) -> Response:
        if call.scope["method"] not in (self.methods or ()):
            return _another_method(call.scope)
        try:
            return await self._serve(call, call.scope["app"].state.service)
        except RememberdError as failure:
            return problem_of(failure, call.scope["request_id"], conditional=b"if-match" in call.fields)
        except HTTPException as failure:
            return problem_of_http(failure, call.scope["request_id"], failure.headers)

    async def _answer(self, call: Call, service: Service) -> Response:
        if self.access != "public":
            call.actor = await service.gate.admit(call.fields, service.engine)
            call.engine = service.engine.acting_as(call.actor)
        if self.access == "operator":
            permit_operator(call.actor)
        connection = call.scope
        arguments: dict[str, Any] = dict(connection["path_params"])
        if self._asked is not None:
            arguments["asked"] = parse_query(connection["query_string"], self._asked)
        elif connection["query_string"]:
            parse_query(connection["query_string"], Asked)
        if self._body is not None:
            with waiting_for_the_caller():
                sent = await read_body(call, service.limits)
            if sent or self.body_field is None or self.body_field.field_info.is_required():
                arguments["body"] = parse_body(sent, self._body)
        answer: Response = await self.endpoint(call, **arguments)
        return answer

    def _refusals(self) -> list[int]:
        """The statuses of the problems that any route of this kind may answer."""
        key = [] if self.access == "public" else [401]
        body = [] if self._body is None else [413, 415]
        return [*key, 403, *body, 422, 500, 503]


class OperatorRoute(Route):
    """A route for the operator."""

    access = "operator"


class PublicRoute(Route):
    """A route for everyone."""

    access = "public"


def _another_method(connection: Connection) -> Response:
    """The answer to OPTIONS, and the problem for any other method that a path does not take."""
    taken = {"OPTIONS"}
    for route in connection["app"].routes:
        if route.matches(connection)[0] is not Match.NONE:
            taken |= route.methods
    if "GET" in taken:
        taken.add("HEAD")
    allow = {"Allow": ", ".join(sorted(taken))}
    if connection["method"] == "OPTIONS":
        return Response(status_code=204, headers=allow)
    refused = HTTPException(405, f"This path takes {allow['Allow']}.")
    return problem_of_http(refused, connection["request_id"], allow)
