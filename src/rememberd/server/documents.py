"""The OpenAPI document: what FastAPI reads off the routes, and the parts that it cannot see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from rememberd.client.wire import Problem
from rememberd.version import __version__

from .route import Route

if TYPE_CHECKING:
    from fastapi import FastAPI

_SECURITY: list[dict[str, list[str]]] = [{"bearer": []}, {"header": []}, {}]
_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


def header(name: str, description: str, pattern: str) -> dict[str, Any]:
    """A header that an operation may be sent with, for ``openapi_extra``."""
    schema = {"type": "string", "pattern": pattern}
    return {
        "parameters": [{"name": name, "in": "header", "required": False, "description": description, "schema": schema}]
    }


IDEMPOTENCY_KEY = header(
    "Idempotency-Key", "Makes a retry harmless: the same key with the same body is done once.", "^[!-~]{1,250}$"
)
IF_MATCH = header("If-Match", "Only if this is the current revision, as the ETag had it.", '^"[0-9]{1,15}"$')


def document(app: FastAPI) -> dict[str, Any]:
    """The document of an app, made once."""
    if app.openapi_schema is None:
        made = get_openapi(
            title="rememberd",
            version=__version__,
            description="The memory of AI agents: it records, remembers, recalls inside a token budget, and forgets.",
            routes=app.routes,
        )
        components = made.setdefault("components", {})
        components.setdefault("schemas", {}).update(_problem_schemas())
        components["securitySchemes"] = _SCHEMES
        for route in app.routes:
            if isinstance(route, Route) and route.access != "public" and route.include_in_schema:
                for method in route.methods or ():
                    made["paths"][route.path_format][method.lower()]["security"] = _SECURITY
        app.openapi_schema = made
    return app.openapi_schema


def _problem_schemas() -> dict[str, Any]:
    problem = TypeAdapter(Problem).json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    return {**problem.pop("$defs", {}), "Problem": problem}
