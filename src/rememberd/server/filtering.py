"""The filter language as the OpenAPI document shows it."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema

from rememberd.model.query import FILTERED_FIELDS

_VALUES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_TIME = {"type": "string", "format": "date-time"}

#: The language itself is read by the flow, so that every way in has the same one.
FilterMap: TypeAlias = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "A list means any of; metadata.KEY compares a field of the metadata.",
            "properties": {**dict.fromkeys(FILTERED_FIELDS, _VALUES), "after": _TIME, "before": _TIME},
            "patternProperties": {r"^metadata\\..+$": _VALUES},
            "additionalProperties": False,
        }
    ),
]
