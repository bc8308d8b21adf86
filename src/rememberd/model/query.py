"""What is asked of memory: the question, its budget, and the one filter language, compiled once per engine."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from .kinds import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Mapping


#: The filters that compare a field of the same name with a list of values.
FILTERED_FIELDS = ("kind", "role", "agent", "thread", "topic", "domain", "source")


class Filterable(Protocol):
    """A message, memory item or document of an index. A field it lacks is None; what has no kind is a message."""

    @property
    def at(self) -> datetime: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Narrow what a read may return. Several values mean any of them; an empty tuple means no restriction."""

    kind: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    thread: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    metadata: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def admits(self, thing: Filterable) -> bool:
        """Whether a thing may be returned; ``after`` includes its moment, ``before`` does not."""
        return self is NO_FILTERS or (
            all(not (wanted := getattr(self, name)) or _field(thing, name) in wanted for name in FILTERED_FIELDS)
            and (self.after is None or self.after <= thing.at)
            and (self.before is None or thing.at < self.before)
            and all(metadata_text(thing.metadata.get(key)) in wanted for key, wanted in self.metadata.items() if wanted)
        )


#: What most queries have: everything is admitted without a look.
NO_FILTERS = Filters()


def _field(thing: Filterable, name: str) -> str | None:
    value: str | None = getattr(thing, name, MESSAGE if name == "kind" else None)
    return value


def metadata_text(value: object) -> str | None:
    """How a metadata value reads in a filter: a string as it is, a number or boolean as JSON writes it.

    None for what no filter can match: null, lists and objects.
    """
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """``k`` bounds the raw hits, ``budget`` the tokens of the context; ``floor`` None is the default, 0 is off."""

    text: str
    k: int = 10
    budget: int = 1500
    filters: Filters = NO_FILTERS
    now: datetime | None = None
    timezone: str | None = None
    as_of: datetime | None = None
    floor: float | None = None
    explain: bool = False
