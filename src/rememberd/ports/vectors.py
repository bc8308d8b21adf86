"""Vectors of messages and memory items: made once per text, lane and model, and kept; and which of them serve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from rememberd.model.change import Noun

from .storage import Write

if TYPE_CHECKING:
    from collections.abc import Sequence

#: ``serving``: queries go by it. ``going``: they still do, until what is coming is whole. ``kept``: it is only held.
SpaceState = Literal["serving", "going", "coming", "kept"]


@dataclass(frozen=True, slots=True)
class Space:
    """What the vectors of one lane and model are in; those of another space do not compare with them.

    ``recipe`` says how its embedder is made; no secrets.
    """

    lane: str
    model: str
    recipe: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """As the index knows it."""
        return f"{self.lane}/{self.model}"

    @property
    def follower(self) -> str:
        """Under this name the feed knows how far it has been embedded."""
        return f"embed/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """``data`` is one vector, or several in a row, as little-endian float32 bytes; ``model`` is the hash of what made
    it."""

    tenant: str
    noun: Noun
    id: str
    lane: str
    model: str
    data: bytes

    @property
    def space(self) -> str:
        """The name of its space."""
        return f"{self.lane}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PutVectors(Write[None]):
    """Keep vectors, replacing those of the same thing and space; let go of those whose data is empty.

    The feed says so: one ``embed`` per thing of which anything changed.
    """

    vectors: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class Want(Write[None]):
    """Say which spaces are to serve. Where none serves yet, they do at once, and so they do if they all served already.

    Otherwise those that are new are ``coming`` until ``Serve``; those that serve and are not wanted are ``going``.
    """

    spaces: tuple[Space, ...]


@dataclass(frozen=True, slots=True)
class Serve(Write[bool]):
    """Let the coming spaces serve, and keep those that go. False, and nothing changed, if others are coming by now."""

    coming: frozenset[Space]


@dataclass(frozen=True, slots=True)
class DropVectors(Write[int]):
    """Let go of up to ``limit`` vectors of a kept space, and of the space with the last of them; answers how many.

    The feed says so as it does of those that are put. Raises ``NotFound`` if there is no such space, ``Conflict`` if it
    is not only kept.
    """

    lane: str
    model: str
    limit: int


def wanted(spaces: Mapping[Space, SpaceState], wish: Sequence[Space]) -> dict[Space, SpaceState]:
    """What becomes of the spaces with ``Want``; the same on every engine."""
    serve = {space for space, state in spaces.items() if state in ("serving", "going")}
    after: dict[Space, SpaceState] = dict.fromkeys((*wish, *spaces), "kept")  # the wish first, for its recipes
    coming = set(wish) - serve if serve else set()
    for space in after:
        if space in wish:
            after[space] = "coming" if space in coming else "serving"
        elif space in serve and coming:
            after[space] = "going"
    return after


def served(spaces: Mapping[Space, SpaceState], coming: frozenset[Space]) -> dict[Space, SpaceState] | None:
    """What becomes of the spaces with ``Serve``; None if others are coming by now."""
    if coming != {space for space, state in spaces.items() if state == "coming"}:
        return None
    turned: dict[SpaceState, SpaceState] = {"coming": "serving", "going": "kept"}
    return {space: turned.get(state, state) for space, state in spaces.items()}


class Vectors(Protocol):
    async def get(self, tenant: str, ids: Sequence[str]) -> list[Vector]:
        """The vectors of these things in every space, in no particular order."""
        ...

    async def spaces(self) -> dict[Space, SpaceState]:
        """Every space that was wanted once and not dropped since, by lane and model."""
        ...
