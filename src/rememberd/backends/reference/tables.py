"""What the reference storage holds: frozen values in dicts and lists, so that a shallow copy is a snapshot."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, fields

from rememberd.model import ApiKey, AuditEntry, Change, Job, MemoryItem, Message, Operation, ThreadState
from rememberd.model.change import Noun
from rememberd.ports.records import TurnState
from rememberd.ports.vectors import Space, SpaceState, Vector


@dataclass(frozen=True, slots=True)
class FirstUse:
    """What an idempotency key stood for when it was first used."""

    digest: bytes
    stored: Message | MemoryItem


@dataclass(slots=True)
class Tables:
    """Keys begin with the tenant wherever ids are a tenant's own; job and API key ids are everybody's."""

    messages: dict[tuple[str, str], Message] = field(default_factory=dict)
    threads: dict[tuple[str, str], ThreadState] = field(default_factory=dict)
    turns: dict[tuple[str, str], TurnState] = field(default_factory=dict)
    memories: dict[tuple[str, str], tuple[MemoryItem, ...]] = field(default_factory=dict)
    idempotency_keys: dict[tuple[str, str], FirstUse] = field(default_factory=dict)
    vectors: dict[tuple[str, Noun, str, str], Vector] = field(default_factory=dict)
    spaces: dict[Space, SpaceState] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    api_keys: dict[str, ApiKey] = field(default_factory=dict)
    audit: list[AuditEntry] = field(default_factory=list)
    feed: list[Change] = field(default_factory=list)
    followers: dict[str, int] = field(default_factory=dict)

    def snapshot(self) -> Tables:
        return Tables(**{table.name: copy(getattr(self, table.name)) for table in fields(self)})

    def announce(self, tenant: str, noun: Noun, thing: str, operation: Operation) -> int:
        """Append a change to the feed; answer its position."""
        position = len(self.feed) + 1
        self.feed.append(Change(position, tenant, noun, thing, operation))
        return position


@dataclass(slots=True)
class Committed:
    """The tables as of the last commit; a commit replaces them whole."""

    tables: Tables = field(default_factory=Tables)
