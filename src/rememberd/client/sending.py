"""What goes out: model values in the words of the HTTP API. What is not set is not sent."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rememberd.model import DEFAULT_TENANT
from rememberd.model.query import FILTERED_FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.model import Filters, MemoryPatch, NewMemory, NewMessage, Query, Scope

    Parameters = Sequence[tuple[str, str]]

#: Filters whose plain name is another parameter of a list.
_PREFIXED = frozenset(("agent", "thread", "after", "before"))


def scope_fields(scope: Scope) -> dict[str, Any]:
    """The default tenant is left to the server: with an API key, it is the key's."""
    tenant = None if scope.tenant == DEFAULT_TENANT else scope.tenant
    return _set(tenant=tenant, user=scope.user, agent=scope.agent, thread=scope.thread)


def scope_parameters(scope: Scope) -> Parameters:
    return list(scope_fields(scope).items())


def message_fields(message: NewMessage) -> dict[str, Any]:
    return _all_set(message)


def query_fields(query: Query) -> dict[str, Any]:
    return _set(
        query=query.text,
        k=query.k,
        budget=query.budget,
        filters=filter_fields(query.filters) or None,
        now=query.now,
        timezone=query.timezone,
        as_of=query.as_of,
        floor=query.floor,
        explain=query.explain,
    )


def memory_fields(memory: NewMemory | MemoryPatch) -> dict[str, Any]:
    return _all_set(memory)


def filter_fields(filters: Filters) -> dict[str, Any]:
    wanted: dict[str, Any] = {name: values for name in FILTERED_FIELDS if (values := getattr(filters, name))}
    wanted |= _set(after=filters.after, before=filters.before)
    return wanted | {f"metadata.{key}": values for key, values in filters.metadata.items()}


def filter_parameters(filters: Filters) -> Parameters:
    parameters = []
    for name, wanted in filter_fields(filters).items():
        values = wanted if isinstance(wanted, tuple) else (wanted.isoformat(),)
        parameters += [(f"filter.{name}" if name in _PREFIXED else name, value) for value in values]
    return parameters


def page_parameters(after: str | None, limit: int) -> Parameters:
    return [*_set(after=after).items(), ("limit", str(limit))]


def _set(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _all_set(noun: NewMessage | NewMemory | MemoryPatch) -> dict[str, Any]:
    return _set(**{field.name: getattr(noun, field.name) for field in fields(noun)})
