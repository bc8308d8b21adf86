"""/v1/memories: memory items, kept by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from rememberd.model import MemoryItem, Page

from .answers import answer, whole_list
from .asked import MemoriesAsked, ScopeAsked
from .bodies import MemoryBody, PatchBody
from .call import Call
from .documents import IDEMPOTENCY_KEY, IF_MATCH
from .problems import documented
from .route import Route

if TYPE_CHECKING:
    from collections.abc import Mapping

router = APIRouter(prefix="/v1/memories", tags=["memories"], route_class=Route)

Item = Annotated[ScopeAsked, Query()]
_ALSO: dict[int | str, dict[str, Any]] = {
    200: {"model": MemoryItem, "description": "It was held already, and has a new revision."}
}


@router.post(
    "",
    status_code=201,
    response_model=MemoryItem,
    responses={**_ALSO, **documented(409, 507)},
    openapi_extra=IDEMPOTENCY_KEY,
)
async def add(call: Call, body: MemoryBody) -> Response:
    """Remember something by hand. What is held already gets a new revision instead."""
    item = await call.engine.add(call.within(body), body.memory(), call.idempotency_key)
    status = 201 if item.revision == 1 else 200
    return answer(item, status, {**_etag(item), "Location": f"/v1/memories/{item.id}"})


@router.get("", response_model=Page[MemoryItem])
async def list_memories(call: Call, asked: Annotated[MemoriesAsked, Query()]) -> Response:
    """The memory items of a scope, the latest change first."""
    return answer(await call.engine.list(call.within(asked), asked.filters(), after=asked.after, limit=asked.limit))


@router.get("/{memory_id}", response_model=MemoryItem, responses=documented(404))
async def get(call: Call, memory_id: str, asked: Item) -> Response:
    """A memory item as it is now; its ETag is its revision."""
    item = await call.engine.get(call.within(asked), memory_id)
    return answer(item, headers=_etag(item))


@router.patch(
    "/{memory_id}",
    response_model=MemoryItem,
    responses=documented(404, 409, 412, 507),
    openapi_extra=IF_MATCH,
)
async def revise(call: Call, memory_id: str, asked: Item, body: PatchBody) -> Response:
    """Store a new revision with the changed fields; the old one is kept."""
    item = await call.engine.revise(call.within(asked), memory_id, body.patch(), call.expected_revision)
    return answer(item, headers=_etag(item))


@router.delete(
    "/{memory_id}",
    status_code=204,
    responses=documented(404, 409, 412, 507),
    openapi_extra=IF_MATCH,
)
async def delete(call: Call, memory_id: str, asked: Item) -> Response:
    """Delete a memory item; its revisions are kept."""
    await call.engine.delete(call.within(asked), memory_id, call.expected_revision)
    return Response(status_code=204)


@router.get("/{memory_id}/versions", response_model=Page[MemoryItem], responses=documented(404))
async def versions(call: Call, memory_id: str, asked: Item) -> Response:
    """Every revision of a memory item, oldest first."""
    return whole_list(await call.engine.versions(call.within(asked), memory_id))


def _etag(item: MemoryItem) -> Mapping[str, str]:
    return {"ETag": f'"{item.revision}"'}
