"""The page that shows the API and tries it out: Swagger UI, from files that came with the installation."""

from __future__ import annotations

from importlib import resources

from fastapi import APIRouter
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import Response

from rememberd.errors import NotFound

from .call import Call
from .route import PublicRoute

router = APIRouter(route_class=PublicRoute, include_in_schema=False)

_FILES = {
    "swagger-ui-bundle.js": "application/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}


@router.get("/docs")
async def docs(call: Call) -> Response:
    return get_swagger_ui_html(
        openapi_url="openapi.json",
        title="rememberd",
        swagger_js_url="docs/swagger-ui-bundle.js",
        swagger_css_url="docs/swagger-ui.css",
        swagger_favicon_url="docs/favicon-32x32.png",
        swagger_ui_parameters={"tryItOutEnabled": True, "persistAuthorization": True},
    )


@router.get("/docs/{file}")
async def docs_file(call: Call, file: str) -> Response:
    if file not in _FILES:
        raise NotFound(f"no file {file!r} belongs to the page")
    content = resources.files("fastapi_swagger").joinpath("resources", file).read_bytes()
    return Response(content, media_type=_FILES[file], headers={"Cache-Control": "max-age=86400"})
