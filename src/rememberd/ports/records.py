"""The record: messages and turns, appended once, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from rememberd.model import Message, Outcome, Receipts, Role, Scope, ThreadState

from .storage import Write

if TYPE_CHECKING:
    from collections.abc import Sequence

Order = Literal["newest", "oldest"]


class Entry(Struct, frozen=True, kw_only=True):
    """A validated message about to be recorded. ``digest`` stands for what was sent, for the idempotency key.

    Like an append, it is made for every message that comes in: a struct costs a tenth of what a dataclass would.
    """

    id: str
    role: Role
    content: str
    name: str | None = None
    at: datetime
    metadata: dict[str, Any] = {}
    idempotency_key: str | None = None
    digest: bytes = b""


class Append(Struct, Write[Receipts], frozen=True, kw_only=True):
    """Record messages at the end of a thread, with consecutive sequence numbers and no gaps.

    An entry whose idempotency key is known with the same digest is answered with the first one's receipt, as
    ``duplicate``; with another digest the whole append raises ``IdempotencyConflict``. Where ``thread_made_up``, a
    known key brings the thread of its first use back (the first known one, for all entries). Keys are the tenant's,
    shared with ``Put``, and looked at before the owner: ``ThreadTaken`` is raised if the thread is another user's.
    An append that is all duplicates changes nothing.
    A session that was not used for ``session_ttl`` ends, and a new one begins with the first entry recorded.
    """

    tenant: str
    thread: str
    user: str | None
    agent: str | None
    entries: tuple[Entry, ...]
    recorded_at: datetime
    session_ttl: timedelta
    thread_made_up: bool = False

    @property
    def idempotency_keys(self) -> list[str]:
        return [entry.idempotency_key for entry in self.entries if entry.idempotency_key is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch(Write[None]):
    """Note that a thread was used; ``session_from`` (if given) is where its session now begins.

    A thread that does not exist stays absent; ``last_used`` never goes back.
    """

    tenant: str
    thread: str
    at: datetime
    session_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginTurn(Write[None]):
    """Enter into the record that a turn has begun. Beginning it again changes nothing."""

    id: str
    tenant: str
    thread: str
    user: str | None
    agent: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTurn(Write[bool]):
    """Enter into the record how a turn ended. False, and nothing written, if it had ended already.

    Raises ``NotFound`` if no such turn was begun in the tenant.
    """

    id: str
    tenant: str
    outcome: Outcome
    at: datetime
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnState:
    """A turn as the record has it."""

    id: str
    tenant: str
    thread: str
    user: str | None
    agent: str | None
    begun_at: datetime
    outcome: Outcome | None = None
    ended_at: datetime | None = None
    detail: dict[str, Any] = field(default_factory=dict)


class Records(Protocol):
    async def thread(self, tenant: str, thread: str) -> ThreadState | None:
        """What is kept about a thread, or None if nothing was ever recorded in it."""
        ...

    async def tail(self, tenant: str, thread: str, after: int, limit: int) -> list[Message]:
        """The last ``limit`` messages of a thread with ``seq`` above ``after``, role system left out; oldest first."""
        ...

    async def history(
        self, scope: Scope, *, order: Order, after: int | None, until: datetime | None, limit: int
    ) -> list[Message]:
        """The messages that ``scope`` sees, of its thread if it has one, by position; beyond position ``after``.

        ``until`` leaves out what was recorded later than that.
        """
        ...

    async def messages(self, tenant: str, ids: Sequence[str]) -> list[Message]:
        """Those of the messages that exist in the tenant, in no particular order."""
        ...

    async def neighbours(self, tenant: str, thread: str, seqs: Sequence[int]) -> list[Message]:
        """The messages of a thread with these sequence numbers, in order."""
        ...

    async def turn(self, tenant: str, turn_id: str) -> TurnState | None:
        """A turn, or None."""
        ...

    async def count(self, tenant: str | None) -> int:
        """How many messages a tenant has; all tenants' when None."""
        ...
