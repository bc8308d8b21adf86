"""Limits and policies for everything that comes in; every fault of a request is named at once."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rememberd.errors import Fault, InvalidRequest
from rememberd.language.clean import unfit_id, unkeepable
from rememberd.model import KINDS, NO_FILTERS, Filters, MemoryPatch, NewMemory, NewMessage, Query, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

_ID_LENGTH = 255
_MAX_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """How large what comes in may be."""

    content: int = 1_000_000
    metadata_depth: int = 16
    metadata_size: int = 65_536
    messages: int = 1000
    query: int = 100_000


LIMITS = Limits()


@dataclass(slots=True)
class Faults:
    """Collects what is wrong with one request."""

    limits: Limits = LIMITS
    found: list[Fault] = field(default_factory=list)

    def add(self, pointer: str, detail: str | None) -> None:
        if detail is not None:
            self.found.append(Fault(pointer, detail))

    def raise_if_any(self) -> None:
        if self.found:
            raise InvalidRequest(self.found)

    def id(self, pointer: str, value: object, *, optional: bool = True) -> None:
        if value is None and optional:
            return
        if value is None:
            self.add(pointer, "is missing")
        elif not isinstance(value, str):
            self.add(pointer, "must be a string")
        elif len(value) > _ID_LENGTH:
            self.add(pointer, f"must not be longer than {_ID_LENGTH} characters")
        else:
            self.add(pointer, unfit_id(value))

    def text(self, pointer: str, value: object, *, longest: int, empty: bool = False, optional: bool = False) -> None:
        if value is None and optional:
            return
        if not isinstance(value, str):
            self.add(pointer, "must be a string")
        elif len(value) > longest:
            self.add(pointer, f"must not be longer than {longest:,} characters")
        elif not empty and not value.strip():
            self.add(pointer, "must not be empty")
        else:
            self.add(pointer, unkeepable(value))

    def number(self, pointer: str, value: object, low: float, high: float) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.add(pointer, "must be a number")
        elif not low <= value <= high:
            self.add(pointer, f"must be between {low:g} and {high:g}")

    def moment(self, pointer: str, value: object) -> None:
        if value is not None and (not isinstance(value, datetime) or value.tzinfo is None):
            self.add(pointer, "must be a time with a zone")

    def metadata(self, pointer: str, value: object) -> None:
        if value == {}:
            return
        if not isinstance(value, dict):
            self.add(pointer, "must be an object")
            return
        fault, size = _fault_in_json(value, self.limits.metadata_depth)
        if fault is None and size > self.limits.metadata_size:
            fault = f"must not be larger than {self.limits.metadata_size:,} characters"
        self.add(pointer, fault)


def check_scope(faults: Faults, scope: Scope) -> None:
    faults.found += _faults_of(scope)


@functools.lru_cache(maxsize=4096)
def _faults_of(scope: Scope) -> tuple[Fault, ...]:
    """The same few scopes come again and again."""
    faults = Faults()
    faults.id("/tenant", scope.tenant, optional=False)
    faults.id("/user", scope.user)
    faults.id("/agent", scope.agent)
    faults.id("/thread", scope.thread)
    return tuple(faults.found)


def check_messages(faults: Faults, messages: Sequence[NewMessage], idempotency_key: str | None) -> None:
    if not messages:
        faults.add("/messages", "must hold at least one message")
    if len(messages) > faults.limits.messages:
        faults.add("/messages", f"must not hold more than {faults.limits.messages:,} messages")
        return
    check_idempotency_key(faults, idempotency_key)
    for i, message in enumerate(messages):
        check_message(faults, message, f"/messages/{i}")


def check_message(faults: Faults, message: NewMessage, pointer: str) -> None:
    """What most messages leave out needs no look, and no pointer to it."""
    faults.text(f"{pointer}/content", message.content, longest=faults.limits.content)
    if message.name is not None:
        faults.id(f"{pointer}/name", message.name)
    if message.at is not None:
        faults.moment(f"{pointer}/at", message.at)
    if message.metadata != {}:
        faults.metadata(f"{pointer}/metadata", message.metadata)
    if message.idempotency_key is not None:
        faults.id(f"{pointer}/idempotency_key", message.idempotency_key)


def check_idempotency_key(faults: Faults, idempotency_key: str | None) -> None:
    faults.id("/idempotency_key", idempotency_key)
    if isinstance(idempotency_key, str) and _ID_LENGTH - 5 < len(idempotency_key) <= _ID_LENGTH:
        faults.add("/idempotency_key", f"must not be longer than {_ID_LENGTH - 5} characters")


def check_query(faults: Faults, query: Query) -> None:
    faults.text("/query", query.text, longest=faults.limits.query)
    faults.number("/k", query.k, 1, _MAX_PAGE)
    faults.number("/budget", query.budget, 0, 1_000_000)
    if query.floor is not None:
        faults.number("/floor", query.floor, 0, 1)
    faults.moment("/now", query.now)
    faults.moment("/as_of", query.as_of)
    if query.timezone is not None:
        faults.add("/timezone", _unknown_zone(query.timezone))
    if query.filters is not NO_FILTERS:
        check_filters(faults, query.filters)


def check_filters(faults: Faults, filters: Filters) -> None:
    for name, wanted in [*_listed(filters), *((f"metadata.{key}", values) for key, values in filters.metadata.items())]:
        faults.text(f"/filters/{name}", name, longest=_ID_LENGTH)
        for value in wanted:
            faults.text(f"/filters/{name}", value, longest=_ID_LENGTH, empty=True)


def check_memory(faults: Faults, memory: NewMemory | MemoryPatch) -> None:
    optional = isinstance(memory, MemoryPatch)
    faults.text("/text", memory.text, longest=faults.limits.content, optional=optional)
    if not (optional and memory.kind is None):
        kind = KINDS.get(memory.kind) if isinstance(memory.kind, str) else None
        if kind is None or not kind.by_hand:
            faults.add("/kind", f"must be one of {', '.join(name for name, kind in KINDS.items() if kind.by_hand)}")
    if not (optional and memory.importance is None):
        faults.number("/importance", memory.importance, 0, 1)
    for name in ("source", "topic", "domain"):
        faults.text(f"/{name}", getattr(memory, name), longest=_ID_LENGTH, optional=True)
    for name in ("valid_from", "valid_until", "expires_at"):
        faults.moment(f"/{name}", getattr(memory, name))
    if memory.valid_from and memory.valid_until and memory.valid_from >= memory.valid_until:
        faults.add("/valid_until", "must be later than valid_from")
    if not (optional and memory.metadata is None):
        faults.metadata("/metadata", memory.metadata)


def check_page(faults: Faults, limit: int) -> None:
    faults.number("/limit", limit, 1, _MAX_PAGE)


def _listed(filters: Filters) -> list[tuple[str, tuple[str, ...]]]:
    return [
        ("kind", filters.kind), ("role", filters.role), ("agent", filters.agent), ("thread", filters.thread),
        ("topic", filters.topic), ("domain", filters.domain), ("source", filters.source),
    ]  # fmt: skip


def _unknown_zone(name: str) -> str | None:
    try:
        ZoneInfo(name).utcoffset(datetime(2000, 1, 1) + timedelta(0))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "is not a known time zone; write it like Asia/Shanghai"
    return None


def _fault_in_json(value: Any, depth: int) -> tuple[str | None, int]:
    """What makes a value unfit as metadata, and roughly how many characters it takes as JSON."""
    if depth < 0:
        return "is nested too deeply", 0
    if isinstance(value, str):
        return unkeepable(value), len(value) + 2
    if value is None or isinstance(value, bool):
        return None, 5
    if isinstance(value, (int, float)):
        fine = -(2**63) < value < 2**63
        return (None if fine else "holds a number that JSON cannot carry everywhere"), 8
    if isinstance(value, dict):
        children = [*value, *value.values()]
        if not all(isinstance(key, str) for key in value):
            return "has a key that is not a string", 0
    elif isinstance(value, (list, tuple)):
        children = list(value)
    else:
        return f"holds a {type(value).__name__}, which is not JSON", 0
    total = 2
    for child in children:
        fault, size = _fault_in_json(child, depth - 1)
        if fault is not None:
            return fault, 0
        total += size + 1
    return None, total
