"""The bodies of requests. Nothing is coerced, nothing unknown is let through; the examples work as they stand."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, ConfigDict, Discriminator, Field, Tag

from rememberd.flow.accept import accept_filters
from rememberd.model import MemoryPatch, NewMemory, NewMessage, Outcome, Query

from .fields import FreeForm, Id, Importance, Instant, Label, Text, shown
from .filtering import FilterMap

SpokenRole: TypeAlias = Literal["user", "assistant", "agent", "system", "tool"]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Address(Body):
    """Where data belongs. What is left out is shared at that level; the tenant is the API key's."""

    tenant: Id | None = None
    user: Id | None = None
    agent: Id | None = None
    thread: Id | None = None


class MessageBody(Body):
    role: SpokenRole
    content: Text
    name: Label | None = Field(None, description="Who speaks, where a thread has several people.")
    at: Instant | None = Field(None, description="When it was said; now, if left out.")
    metadata: FreeForm = Field(default_factory=dict)
    idempotency_key: Id | None = None

    def message(self) -> NewMessage:
        return NewMessage(
            role="assistant" if self.role == "agent" else self.role,
            content=self.content,
            name=self.name,
            at=self.at,
            metadata=self.metadata,
            idempotency_key=self.idempotency_key,
        )


class IngestBody(Address):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "tenant": "default",
                    "user": "lin",
                    "thread": "t-42",
                    "messages": [
                        {
                            "role": "user",
                            "name": "Lin",
                            "content": "我皮肤敏感，想找轻薄的粉底",
                            "at": "2026-11-15T08:00:00Z",
                        },
                        {"role": "assistant", "content": "A light foundation for sensitive skin: noted."},
                    ],
                }
            ]
        }
    )
    messages: Annotated[list[MessageBody], shown(minItems=1, maxItems=1000)]


class FlatBody(MessageBody):
    """One message by itself. ``tenant`` is also a name for the namespace, ``conversation_id`` and ``thread`` for the
    session, ``customer_id`` and ``user`` for the user."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"namespace": "default", "session_id": "s-7", "role": "user", "content": "你好"}]
        }
    )
    tenant: Id | None = Field(None, validation_alias=AliasChoices("namespace", "tenant"))
    thread: Id | None = Field(None, validation_alias=AliasChoices("session_id", "conversation_id", "thread"))
    user: Id | None = Field(None, validation_alias=AliasChoices("user_id", "customer_id", "user"))
    agent: Id | None = None


def _form(body: object) -> str:
    return (
        "one" if isinstance(body, dict) and "messages" not in body and ("role" in body or "content" in body) else "many"
    )


#: Either form of ingest; the tags never show outside.
BODY_FORMS = frozenset({"many", "one"})
Ingest: TypeAlias = Annotated[
    Annotated[IngestBody, Tag("many")] | Annotated[FlatBody, Tag("one")], Discriminator(_form)
]


class Question(Body):
    """What may be asked along with any query."""

    k: Annotated[int, shown(minimum=1, maximum=1000)] = Field(10, description="How many raw chunks are wanted.")
    budget: Annotated[int, shown(minimum=0, maximum=1_000_000)] = Field(
        1500, description="How many tokens the context may have."
    )
    filters: FilterMap = Field(default_factory=dict)
    now: Instant | None = Field(None, description="When the question is asked: what yesterday means; now, if left out.")
    timezone: Label | None = Field(
        None, description="Where the question is asked, like Asia/Shanghai: when a day begins; UTC, if left out."
    )
    as_of: Instant | None = Field(None, description="Answer as if it were asked at that time.")
    floor: Annotated[float, shown(minimum=0, maximum=1)] | None = Field(
        None, description="How much of the question the best hit must cover; null: the default, 0: off."
    )
    explain: bool = Field(False, description="Tell what became of each hit, and why.")

    def about(self, text: str) -> Query:
        """The query for ``text``. Raises ``InvalidRequest`` for what is wrong with the filters."""
        return Query(
            text=text,
            k=self.k,
            budget=self.budget,
            filters=accept_filters(self.filters),
            now=self.now,
            timezone=self.timezone,
            as_of=self.as_of,
            floor=self.floor,
            explain=self.explain,
        )


class QueryBody(Address, Question):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"tenant": "default", "user": "lin", "query": "粉底", "k": 10, "budget": 1500, "explain": True}
            ]
        }
    )
    query: Text

    def asked(self) -> Query:
        return self.about(self.query)


class TenantQueryBody(Question):
    model_config = ConfigDict(json_schema_extra={"examples": [{"tenant": "default", "query": "粉底", "k": 10}]})
    tenant: Id | None = None
    query: Text

    def asked(self) -> Query:
        return self.about(self.query)


class TurnBody(Address, Question):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"user": "lin", "thread": "t-43", "message": {"role": "user", "content": "还有轻薄的粉底吗？"}}
            ]
        }
    )
    message: MessageBody
    query: Text | None = Field(None, description="What to recall for; the message's content, if left out.")

    def asked(self) -> Query:
        return self.about(self.query or self.message.content)


class TurnEndBody(Address):
    model_config = ConfigDict(json_schema_extra={"examples": [{"user": "lin", "thread": "t-43", "outcome": "ok"}]})
    outcome: Outcome = "ok"
    reply: MessageBody | None = None
    detail: FreeForm = Field(default_factory=dict, description="Kept with the turn: agents' results and the like.")


class MemoryBody(Address):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"user": "lin", "kind": "preference", "text": "Lin prefers light foundations."}]
        }
    )
    text: Text
    kind: Label = "fact"
    source: Label | None = None
    importance: Importance = 0.5
    topic: Label | None = None
    domain: Label | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    expires_at: Instant | None = None
    metadata: FreeForm = Field(default_factory=dict)

    def memory(self) -> NewMemory:
        return NewMemory(
            **{name: getattr(self, name) for name in MemoryBody.model_fields.keys() - Address.model_fields}
        )


_LEFT_OUT: Any = None


class PatchBody(Body):
    """The fields to change. One that is left out stays as it was; none can be taken away, so null is refused."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"topic": "make-up", "importance": 0.8}]})
    text: Text = Field(default=_LEFT_OUT)
    kind: Label = Field(default=_LEFT_OUT)
    source: Label = Field(default=_LEFT_OUT)
    importance: Importance = Field(default=_LEFT_OUT)
    topic: Label = Field(default=_LEFT_OUT)
    domain: Label = Field(default=_LEFT_OUT)
    valid_from: Instant = Field(default=_LEFT_OUT)
    valid_until: Instant = Field(default=_LEFT_OUT)
    expires_at: Instant = Field(default=_LEFT_OUT)
    metadata: FreeForm = Field(default=_LEFT_OUT)

    def patch(self) -> MemoryPatch:
        return MemoryPatch(**{name: getattr(self, name) for name in self.model_fields_set})


class SettleBody(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"timeout": 30}]})
    timeout: Annotated[float, shown(minimum=0, maximum=3600)] = Field(
        default=30.0, description="Seconds to wait at most."
    )


class RebuildBody(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"view": "index"}]})
    view: Literal["index", "window"] = "index"
    verify: bool = Field(default=False, description="Compare the new index with the old one: the last line's `equal`.")


class ApiKeyBody(Body):
    """Either a tenant's API key or an operator's."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tenant": "acme"}, {"operator": True}]})
    tenant: Id | None = None
    operator: bool = False
