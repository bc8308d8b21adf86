"""Values as columns hold them: times as microseconds since 1970 in UTC, JSON as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(dict[str, Any])


def micros(moment: datetime) -> int:
    return (moment - _EPOCH) // MICROSECOND


def moment(value: int) -> datetime:
    return _EPOCH + value * MICROSECOND


def maybe_micros(at: datetime | None) -> int | None:
    return None if at is None else micros(at)


def maybe_moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def json_text(value: dict[str, Any]) -> str:
    return _encoder.encode(value).decode() if value else "{}"


def json_value(text: str) -> dict[str, Any]:
    return {} if text == "{}" else _decoder.decode(text)


def string_list(values: Iterable[str]) -> str:
    """A list of strings as one bound value, for ``dialect.in_list``."""
    return _encoder.encode(list(values)).decode()
