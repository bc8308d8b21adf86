"""What recall hands to the model: ranked hits, and the text and messages packed into the budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from .message import Role

#: What became of a hit. ``kept``: its line is in the text. ``window``: it stands in the window already. ``duplicate``:
#: the same was said by the same one in a line that is kept. ``budget``: its line did not fit. ``floor``: nothing that
#: was found covers enough of the question.
Fate: TypeAlias = Literal["kept", "window", "duplicate", "budget", "floor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing found, with its score, the parts that add up to it, and a sentence saying why."""

    id: str
    kind: str
    text: str
    role: Role | None
    name: str | None
    thread: str | None
    user: str | None
    agent: str | None
    topic: str | None
    domain: str | None
    source: str | None
    at: datetime
    score: float
    parts: dict[str, float] = field(default_factory=dict)
    why: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Citation:
    """``number`` is the mark in the context's text, ``id`` the message or memory item behind it."""

    number: int
    id: str
    kind: str
    thread: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Tokens:
    """``raw`` is what all hits would have cost, ``condensed`` what the context costs, ``budget`` what it may."""

    raw: int
    condensed: int
    budget: int


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A message of the window in the shape that models take."""

    role: Role
    content: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a hit, and what its line costs in tokens."""

    hit: Hit
    fate: Fate
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a context is as it is.

    ``ranked`` candidates were ranked; the best of them were read, and ``verdicts`` tell of these, best first. The rest
    is beyond what was asked for and what the budget could hold. ``relevance`` is how much of the question the best
    covers, ``floor`` how much it had to, for anything to be said.
    """

    ranked: int
    relevance: float
    floor: float
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """The time to which a question about what was said then is narrowed: its words, and the range [since, until) that
    they mean. None is an open end."""

    words: str
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The result of recall. ``raw`` are the first k hits, best first; ``items`` are those packed into ``text``, in its
    order. ``explanation`` is there if it was asked for. ``narrowed`` is the time to which the question kept recall;
    nothing outside of it was looked at.
    """

    text: str = ""
    items: tuple[Hit, ...] = ()
    raw: tuple[Hit, ...] = ()
    citations: tuple[Citation, ...] = ()
    messages: tuple[WindowMessage, ...] = ()
    tokens: Tokens = Tokens(0, 0, 0)
    degraded: tuple[str, ...] = ()
    narrowed: Narrowed | None = None
    explanation: Explanation | None = None

    def openai(self) -> list[dict[str, Any]]:
        """The context as messages for a chat completion: what was recalled, then the window."""
        recalled = [{"role": "system", "content": self.text}] if self.text else []
        return recalled + [_as_message(message) for message in self.messages]

    def anthropic(self) -> dict[str, Any]:
        """The context as arguments of the Anthropic messages call: ``system`` and ``messages``."""
        spoken = [_as_message(m) for m in self.messages if m.role in ("user", "assistant")]
        return {"system": self.text, "messages": [{k: v for k, v in m.items() if k != "name"} for m in spoken]}


def _as_message(message: WindowMessage) -> dict[str, Any]:
    shape: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.name is not None:
        shape["name"] = message.name
    return shape
