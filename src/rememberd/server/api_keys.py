"""/v1/ops/api-keys: what lets callers in."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from rememberd.client.wire import ShownApiKey, shown
from rememberd.errors import NotFound
from rememberd.model import NewApiKey, Page

from .answers import answer, whole_list
from .bodies import ApiKeyBody
from .call import Call
from .problems import documented
from .route import OperatorRoute

router = APIRouter(prefix="/v1/ops/api-keys", tags=["operate"], route_class=OperatorRoute)


@router.post("", status_code=201, response_model=NewApiKey, responses=documented(507))
async def add(call: Call, body: ApiKeyBody) -> Response:
    """Make an API key. Its token is shown this once."""
    made = await call.engine.operate.add_api_key(body.tenant, operator=body.operator)
    return answer(made, 201, {"Cache-Control": "no-store"})


@router.get("", response_model=Page[ShownApiKey])
async def list_api_keys(call: Call) -> Response:
    """All API keys, the revoked ones included."""
    return whole_list(shown(api_key) for api_key in await call.engine.operate.api_keys())


@router.delete("/{api_key_id}", status_code=204, responses=documented(404, 507))
async def revoke(call: Call, api_key_id: str) -> Response:
    """Revoke an API key."""
    if not await call.engine.operate.revoke_api_key(api_key_id):
        raise NotFound("There is no API key of this id that is in force.")
    return Response(status_code=204)
