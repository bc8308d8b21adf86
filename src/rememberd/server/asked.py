"""Query strings of GET and DELETE, and of the item that a PATCH names."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from rememberd.errors import Fault, InvalidRequest
from rememberd.flow.accept import accept_filters

from .bodies import Address, Body
from .fields import Flag, Id, Instant, Label, Limit, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rememberd.model import Filters


class Asked(Body):
    """A query string. A parameter may come once, unless it is one of ``several``; an unknown one not at all."""

    several: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def read(cls, given: Mapping[str, list[str]]) -> Self:
        """The parameters as their model; raises ``InvalidRequest``, or pydantic's ``ValidationError``."""
        repeated = [name for name, values in given.items() if len(values) > 1 and name not in cls.several]
        if repeated:
            raise InvalidRequest([Fault(f"/{name}", "was given more than once") for name in repeated])
        return cls.model_validate({name: v if name in cls.several else v[0] for name, v in given.items()})


class ScopeAsked(Asked, Address):
    pass


class HistoryAsked(ScopeAsked):
    order: Literal["newest", "oldest"] = "newest"
    after: Text | None = Field(None, description="The cursor that the page before answered as `next`.")
    limit: Limit = 50
    search: Text | None = Field(None, description="Keep the messages with all of these words.")


class WindowAsked(ScopeAsked):
    thread: Id
    resume: Flag = Field(False, description="Bring an ended session back from the record.")


class MemoriesAsked(ScopeAsked):
    """Filters that share a name with another parameter are written `filter.NAME`."""

    several = frozenset(("kind", "role", "topic", "domain", "source", "filter.agent", "filter.thread"))

    after: Text | None = Field(None, description="The cursor that the page before answered as `next`.")
    limit: Limit = 50
    kind: list[Label] = Field(default_factory=list, description="`metadata.KEY=VALUE` filters by metadata, likewise.")
    role: list[Label] = Field(default_factory=list)
    topic: list[Label] = Field(default_factory=list)
    domain: list[Label] = Field(default_factory=list)
    source: list[Label] = Field(default_factory=list)
    filter_agent: list[Label] = Field(default_factory=list, alias="filter.agent")
    filter_thread: list[Label] = Field(default_factory=list, alias="filter.thread")
    filter_after: Instant | None = Field(None, alias="filter.after")
    filter_before: Instant | None = Field(None, alias="filter.before")
    _metadata: dict[str, list[str]] = PrivateAttr(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[str, list[str]]) -> Self:
        asked = super().read({name: values for name, values in given.items() if not name.startswith("metadata.")})
        asked._metadata.update({name: values for name, values in given.items() if name.startswith("metadata.")})
        return asked

    def filters(self) -> Filters:
        fields = {
            "kind": self.kind,
            "role": self.role,
            "topic": self.topic,
            "domain": self.domain,
            "source": self.source,
            "agent": self.filter_agent,
            "thread": self.filter_thread,
            "after": self.filter_after,
            "before": self.filter_before,
        }
        return accept_filters({name: wanted for name, wanted in (fields | self._metadata).items() if wanted}, below="")


class StatsAsked(Asked):
    tenant: Id | None = Field(None, description="All tenants together, if left out.")


class AuditAsked(Asked):
    tenant: Id | None = None
    after: Text | None = None
    limit: Limit = 50


class JobsAsked(Asked):
    state: Literal["waiting", "running", "done", "dead", "cancelled"] | None = None
    limit: Limit = 50


class FailuresAsked(Asked):
    state: Literal["waiting", "dead"] | None = None
    after: Text | None = Field(None, description="The cursor that the page before answered as `next`.")
    limit: Limit = 50


class NothingAsked(Asked):
    """A route that takes no parameters."""
