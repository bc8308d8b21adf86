"""The types of single fields, and how the OpenAPI document shows them. What a value may be is checked by the engine."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII)
_DIGITS = re.compile(r"\d{1,9}", re.ASCII)


def _instant(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _RFC3339.fullmatch(value):
        raise ValueError("must be an RFC 3339 time, like 2026-11-15T08:00:00Z")
    try:
        time = datetime.fromisoformat(value.upper())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is no time that exists") from None


def _digits(value: object) -> object:
    if isinstance(value, str):
        if not _DIGITS.fullmatch(value):
            raise ValueError("must be a whole number")
        return int(value)
    return value


def _flag(value: object) -> object:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def shown(**limits: Any) -> Any:
    """Limits for the document. The engine checks them, so that all faults of a request are named together."""
    return Field(json_schema_extra=limits)


#: A name that callers give: of a tenant, a user, an agent, a thread.
Id: TypeAlias = Annotated[str, shown(minLength=1, maxLength=255)]

#: A word or two about something: a topic, a source, a speaker's name.
Label: TypeAlias = Annotated[str, shown(minLength=1, maxLength=255)]

#: What was said, asked or remembered.
Text: TypeAlias = Annotated[str, shown(minLength=1)]

#: How much something matters.
Importance: TypeAlias = Annotated[float, shown(minimum=0, maximum=1)]

#: A point in time, in UTC; without an offset it is taken as UTC.
Instant: TypeAlias = Annotated[
    datetime, BeforeValidator(_instant), WithJsonSchema({"type": "string", "format": "date-time"})
]

#: JSON of the caller's own, kept as it is.
FreeForm: TypeAlias = dict[str, Any]

#: How many entries of a list are wanted.
Limit: TypeAlias = Annotated[int, BeforeValidator(_digits), shown(minimum=1, maximum=1000)]

#: ``true`` or ``false`` in a query string.
Flag: TypeAlias = Annotated[bool, BeforeValidator(_flag)]
