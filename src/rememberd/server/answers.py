"""What goes out: nouns of the model and shapes of the wire, encoded straight from their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from rememberd.client.wire import encode
from rememberd.model import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(value), status, headers, "application/json")


def whole_list(items: Iterable[object]) -> Response:
    """A list that has no second page, in the shape of every list."""
    return answer(Page(tuple(items)))
