"""Cursors: where the next page starts, bound to the list and scope that they came from."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any, TypeVar

import msgspec

from rememberd.errors import InvalidRequest

P = TypeVar("P", int, str)


def _mark(of: tuple[Any, ...]) -> str:
    return hashlib.blake2b(repr(of).encode(), digest_size=6).hexdigest()


def write_cursor(place: int | str, *of: Any) -> str:
    """A cursor at ``place`` of the list that ``of`` describes."""
    return base64.urlsafe_b64encode(msgspec.json.encode([_mark(of), place])).decode().rstrip("=")


def read_cursor(cursor: str | None, kind: type[P], *of: Any) -> P | None:
    """The place of a cursor; refuses one that came from another list or scope."""
    if cursor is None:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        mark, place = msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, msgspec.DecodeError, UnicodeError, ValueError, TypeError) as error:
        raise InvalidRequest.because("/after", "is not a cursor; use `next` of an earlier page") from error
    if mark != _mark(of) or not isinstance(place, kind) or (kind is int and not 0 <= place < 2**62):
        raise InvalidRequest.because("/after", "is a cursor of another list; use it with the same parameters")
    return place
