"""The index: proposes candidates with the evidence for them; the ranking is computed elsewhere, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rememberd.model import Filters, Scope
from rememberd.model.change import Noun

if TYPE_CHECKING:
    from .candidates import Candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What the index holds of one message or memory item: ids, terms, vectors, filters; never its text.

    ``terms`` are words as ``language`` folds them, without spaces, repeated as often as they stand there; ``vectors``
    are by space, one or several of length 1 in a row, of which the nearest counts. ``name`` is who said a message,
    ``seq`` its place in the thread.
    """

    noun: Noun
    id: str
    tenant: str
    user: str | None
    agent: str | None
    thread: str | None
    kind: str
    role: str | None
    topic: str | None
    domain: str | None
    source: str | None
    at: datetime
    terms: tuple[str, ...]
    name: str | None = None
    seq: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    vectors: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors that a thing has from now on; what else is held of it stays. Nothing, if nothing is held of it."""

    tenant: str
    noun: Noun
    id: str
    vectors: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Gone:
    """A thing that is no longer to be found."""

    tenant: str
    noun: Noun
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What to look for within a scope: documents with any (or all) of the terms, and those nearest to the vectors.

    ``everyone`` looks over all users and agents of the tenant. Without terms and vectors the latest are proposed.
    Messages up to ``reach`` places before or after the best proposals in their thread are proposed besides.
    """

    scope: Scope
    filters: Filters
    terms: tuple[str, ...]
    match: Literal["any", "all"] = "any"
    vectors: Mapping[str, bytes] = field(default_factory=dict)
    limit: int = 200
    everyone: bool = False
    reach: int = 0


#: The neighbours of so many of the best proposals are proposed besides.
NEIGHBOURED = 60


class Index(Protocol):
    async def watermark(self) -> int:
        """The feed position up to which every change has been applied."""
        ...

    async def apply(self, changes: Sequence[Document | Embedded | Gone], upto: int) -> None:
        """Apply changes and move the watermark to ``upto``, both or neither. Applying again changes nothing.

        A document replaces the one of the same tenant, noun and id.
        """
        ...

    async def search(self, search: Search) -> Candidates:
        """The best proposals that the scope sees and the filters admit: by words and by vectors in turns.

        Every document that matches is proposed while there is room within the limit.
        """
        ...

    async def clear(self) -> None:
        """Forget everything; the watermark is 0 again."""
        ...

    async def digest(self) -> str:
        """A digest of everything held, equal for equal contents whatever the way they came."""
        ...

    async def successor(self) -> Index:
        """Another index beside this one, which may take its place: empty, or as it was when it was last closed.

        Where an index outlives its process, so does its successor. Raises ``Conflict`` while one is open.
        """
        ...

    async def give_way(self, successor: Index) -> bool:
        """Hold from now on what the successor holds, which is closed by it.

        False, and nothing changed, if the successor has applied less. A search sees all of one or all of the other.
        """
        ...

    async def close(self) -> None: ...
