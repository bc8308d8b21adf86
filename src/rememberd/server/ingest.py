"""POST /v1/ingest: record messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import Response

from rememberd.errors import Fault, InvalidRequest
from rememberd.model import Receipt, Receipts

from .answers import answer
from .bodies import FlatBody, Ingest
from .call import Call
from .documents import IDEMPOTENCY_KEY
from .problems import documented
from .route import Route

if TYPE_CHECKING:
    from collections.abc import Iterable


router = APIRouter(prefix="/v1", tags=["record"], route_class=Route)

_ALSO: dict[int | str, dict[str, Any]] = {
    200: {"model": Receipts, "description": "All of them were recorded before."},
    202: {"model": Receipts, "description": "Some wait on disk for the storage."},
}


@router.post(
    "/ingest",
    status_code=201,
    response_model=Receipts,
    responses={**_ALSO, **documented(409, 507)},
    openapi_extra=IDEMPOTENCY_KEY,
)
async def ingest(call: Call, body: Ingest) -> Response:
    """Record messages, all or none. They are durable when this answers."""
    messages = [body.message()] if isinstance(body, FlatBody) else [message.message() for message in body.messages]
    try:
        receipts = await call.engine.ingest(call.within(body), messages, call.idempotency_key)
    except InvalidRequest as refused:
        if not isinstance(body, FlatBody):
            raise
        flat = [Fault(fault.pointer.removeprefix("/messages/0"), fault.detail) for fault in refused.faults]
        raise type(refused)(flat) from None
    return answer(receipts, status_of(receipts.receipts))


def status_of(receipts: Iterable[Receipt]) -> int:
    """202 if anything waits in the spool, 201 if anything was recorded, 200 if all of it was known."""
    statuses = {receipt.status for receipt in receipts}
    if "spooled" in statuses:
        return 202
    return 201 if "recorded" in statuses else 200
