"""What comes in: bytes within the limits, strict JSON, every fault named. No meaning is given to anything here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from rememberd.errors import Fault, InvalidRequest, TooLarge

from .bodies import BODY_FORMS

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

    from .asked import Asked
    from .call import Call

T = TypeVar("T")
A = TypeVar("A", bound="Asked")

_DETAILS = {
    "extra_forbidden": "is not known here",
    "missing": "is missing",
    "model_type": "must be an object",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a body may be."""

    body_bytes: int = 8 * 1024 * 1024


async def read_body(call: Call, limits: Limits) -> bytes:
    """The body of a request. Raises ``TooLarge`` as soon as it is known to be, and 415 if it is not plain JSON."""
    declared = call.fields.get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > limits.body_bytes:
        raise _too_large(limits)
    chunks, size, more = [], 0, True
    while more:
        event = await call.receive()
        if event["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk = event.get("body", b"")
        size += len(chunk)
        if size > limits.body_bytes:
            raise _too_large(limits)
        chunks.append(chunk)
        more = event.get("more_body", False)
    if size:
        _check_media_type(call)
    return b"".join(chunks)


def parse_body(body: bytes, adapter: TypeAdapter[T]) -> T:
    """The body as its model. Raises ``InvalidRequest`` with a JSON pointer per fault."""
    try:
        return adapter.validate_json(body)
    except ValidationError as failure:
        raise InvalidRequest([_fault(error) for error in _errors(failure)]) from None


def parse_query(query: bytes, model: type[A]) -> A:
    """The query string as its model. Raises ``InvalidRequest`` with a pointer per parameter that is wrong."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise InvalidRequest.because("", "the query string is not percent-encoded UTF-8") from None
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    try:
        return model.read(given)
    except ValidationError as failure:
        raise InvalidRequest([_fault(error) for error in _errors(failure)]) from None


def _too_large(limits: Limits) -> TooLarge:
    return TooLarge([Fault("", f"a body may have {limits.body_bytes} bytes")])


def _check_media_type(call: Call) -> None:
    media_type = call.fields.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if media_type != b"application/json":
        raise HTTPException(415, "The body must be sent as Content-Type: application/json.")
    if call.fields.get(b"content-encoding", b"identity").lower() != b"identity":
        raise HTTPException(415, "The body must be sent without a Content-Encoding.")


def _errors(failure: ValidationError) -> list[ErrorDetails]:
    return failure.errors(include_url=False, include_context=False, include_input=False)


def _fault(error: ErrorDetails) -> Fault:
    location = error["loc"]
    if location and location[0] in BODY_FORMS:
        location = location[1:]
    pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in location)
    detail = _DETAILS.get(error["type"]) or error["msg"].removeprefix("Value error, ")
    return Fault(pointer, detail[:1].lower() + detail[1:])
