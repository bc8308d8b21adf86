"""What callers hand in, made into model values: mappings become messages and filters, or every fault is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, cast, get_args

from rememberd.errors import Fault, InvalidRequest
from rememberd.model import NO_FILTERS, Filters, NewMessage, Role
from rememberd.model.query import FILTERED_FIELDS

_ROLES: dict[str, Role] = {role: role for role in get_args(Role)} | {"agent": "assistant"}
_MESSAGE_FIELDS = frozenset(field.name for field in fields(NewMessage))

MessageLike = NewMessage | Mapping[str, Any] | str


def accept_messages(messages: Iterable[MessageLike] | MessageLike) -> tuple[NewMessage, ...]:
    """One message or many, as messages, mappings or plain strings (said by the user)."""
    if isinstance(messages, (str, NewMessage, Mapping)):
        return (accept_message(messages),)
    accepted: list[NewMessage] = []
    faults: list[Fault] = []
    for i, message in enumerate(messages):
        try:
            accepted.append(accept_message(message))
        except InvalidRequest as refused:
            faults += [Fault(f"/messages/{i}{fault.pointer}", fault.detail) for fault in refused.faults]
    if faults:
        raise InvalidRequest(faults)
    return tuple(accepted)


def accept_message(message: MessageLike, *, role: Role = "user") -> NewMessage:
    if isinstance(message, str):
        return NewMessage(role=role, content=message)
    if isinstance(message, NewMessage):
        return message if message.at is None else replace(message, at=accept_moment(message.at, "/at"))
    if not isinstance(message, Mapping):
        raise InvalidRequest.because("", "a message is a string, a mapping or a NewMessage")
    unknown = set(message) - _MESSAGE_FIELDS
    if unknown:
        raise InvalidRequest([Fault(f"/{name}", "is not a field of a message") for name in sorted(map(str, unknown))])
    if "content" not in message:
        raise InvalidRequest.because("/content", "is missing")
    named = _ROLES.get(str(message.get("role", role)))
    if named is None:
        raise InvalidRequest.because("/role", f"must be one of {', '.join(_ROLES)}")
    metadata = message.get("metadata")
    settled = {
        "role": named,
        "at": accept_moment(message.get("at"), "/at"),
        "metadata": {} if metadata is None else metadata,
    }
    return NewMessage(**{**message, **settled})


def accept_filters(filters: Mapping[str, Any] | None, below: str = "/filters") -> Filters:
    """The one filter language: known fields, ``after``, ``before``, and ``metadata.KEY``; anything else is refused.

    Faults point ``below`` where the filters stand.
    """
    if not filters:
        return NO_FILTERS
    accepted: dict[str, Any] = {"metadata": {}}
    faults: list[Fault] = []
    for name, wanted in filters.items():
        pointer = f"{below}/{name}"
        try:
            if name in FILTERED_FIELDS:
                accepted[name] = _any_of(wanted, pointer)
            elif name in ("after", "before"):
                accepted[name] = accept_moment(wanted, pointer)
            elif name.startswith("metadata.") and len(name) > len("metadata."):
                accepted["metadata"][name.removeprefix("metadata.")] = _any_of(wanted, pointer)
            else:
                known = ", ".join([*FILTERED_FIELDS, "after", "before", "metadata.KEY"])
                faults.append(Fault(pointer, f"is not a filter; filters are {known}"))
        except InvalidRequest as refused:
            faults += refused.faults
    if faults:
        raise InvalidRequest(faults)
    return Filters(**accepted)


def accept_moment(moment: Any, pointer: str) -> datetime | None:
    """A time, aware and in UTC; one without a zone is taken as UTC."""
    if moment is None:
        return None
    try:
        read = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        aware = read if read.tzinfo else read.replace(tzinfo=UTC)
        return cast("datetime", aware.astimezone(UTC))
    except (ValueError, AttributeError, TypeError, OverflowError) as error:
        raise InvalidRequest.because(pointer, "must be a time like 2026-11-15T08:00:00Z") from error


def _any_of(wanted: Any, pointer: str) -> tuple[str, ...]:
    values = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(values, (list, tuple)) or not values or not all(isinstance(value, str) for value in values):
        raise InvalidRequest.because(pointer, "must be a string or a list of strings")
    return tuple(values)
