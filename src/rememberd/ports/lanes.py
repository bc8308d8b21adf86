"""The lanes of a store, as a process sees them: which spaces serve, which are coming, and what embeds in each."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from rememberd import telemetry

from .models import space_of
from .vectors import Serve, Want

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rememberd.errors import RememberdError

    from .models import Embedder
    from .storage import Storage
    from .vectors import Space, SpaceState

_SO = "so recall goes by words alone"
_LOOKED_AT = 1000  # changes, to see whose vectors are owed


class Lanes:
    """``embedders`` are what the settings ask for; ``revive`` makes that of a space which served before, if it can.

    Queries go by the spaces that serve, all of them or none of one: what is coming is not asked before it is whole.
    A process without embedders leaves the spaces as they are.
    """

    def __init__(
        self,
        storage: Storage,
        embedders: Sequence[Embedder] = (),
        revive: Callable[[Space], Embedder | None] | None = None,
    ) -> None:
        self._storage = storage
        self._own = {space_of(embedder): embedder for embedder in embedders}
        self._embedders: dict[Space, Embedder | None] = dict(self._own)
        self._revive = revive
        self._states: dict[Space, SpaceState] = {}
        self._failures: dict[Space, str] = {}
        self._reached: dict[Space, int] = {}
        self._looking = asyncio.Lock()

    async def open(self) -> None:
        """Say what is wanted, and see what there is."""
        if self._own:
            await self._storage.write(Want(tuple(self._own)))
            await self.look()

    async def look(self) -> None:
        """See what there is: other processes may have changed it."""
        async with self._looking:  # or a look that began earlier would end later, with what is no longer so
            states = await self._storage.vectors.spaces()
            for space, state in states.items():
                if space not in self._embedders and state in ("serving", "going") and self._revive is not None:
                    self._embedders[space] = self._revive(space)
                self._reached[space] = await self._storage.feed.reached(space.follower)
            self._states = states

    async def close(self) -> None:
        for embedder in self._embedders.values():
            if embedder is not None:
                await embedder.close()

    @property
    def wanted(self) -> bool:
        """Whether this process embeds at all."""
        return bool(self._own)

    @property
    def states(self) -> dict[Space, SpaceState]:
        """Every space there is, as last seen."""
        return self._states

    @property
    def serving(self) -> tuple[Embedder, ...]:
        """What embeds where queries look."""
        return tuple(self._at_hand().values())

    @property
    def coming(self) -> tuple[Embedder, ...]:
        """What embeds in the spaces that are to serve next; empty while they are not this process's to bring."""
        coming = self._coming()
        return tuple(self._own[space] for space in coming) if coming <= self._own.keys() else ()

    async def serve(self) -> bool:
        """Let the coming spaces serve; False if others are coming by now."""
        switched = await self._storage.write(Serve(self._coming()))
        await self.look()
        telemetry.log("lanes_switched", serving=[space.name for space in self._asked()])
        return switched

    def embedder_of(self, space: Space) -> Embedder | None:
        return self._embedders.get(space)

    def failed(self, embedder: Embedder, failure: RememberdError) -> None:
        """Note that an embedder cannot embed; the log says so once, until it can or fails in another way."""
        space = space_of(embedder)
        telemetry.count("embed_failed")
        if self._failures.get(space) != failure.detail:
            self._failures[space] = failure.detail
            telemetry.log("lane_failed", level=logging.WARNING, lane=space.name, error=failure.code)

    def followed(self, embedder: Embedder, position: int) -> None:
        """Note how far an embedder has come."""
        space = space_of(embedder)
        self._reached[space] = position
        if self._failures.pop(space, None) is not None:
            telemetry.log("lane_works_again", lane=space.name)

    def reached(self, space: Space) -> int:
        """How far a space has come, as last seen."""
        return self._reached.get(space, 0)

    def failure_of(self, space: Space) -> str | None:
        return self._failures.get(space)

    def missing(self, text: str | None = None) -> tuple[str, ...]:
        """What queries (for this text) have to do without, each with its cure after a semicolon."""
        if not self._own:
            return ()
        absent, unknown = {}, []
        for space in self._asked():
            embedder = self._embedders.get(space)
            if embedder is None:
                unknown.append(space)
            elif embedder.absent is not None:
                absent[embedder] = embedder.absent
        if absent and len(absent) == len(self._asked()):
            symptoms = set(absent.values())
            symptom, _, cure = symptoms.pop().partition("; ")
            return (f"vectors: {'no embedding model is set up' if symptoms else symptom}, {_SO}; {cure}",)
        told = [f"vectors: lane {space.lane}: {self._until(space)}" for space in unknown]
        told += [
            f"vectors: lane {embedder.lane}: {symptom}"
            for embedder, symptom in absent.items()
            if text is None or embedder.asks(text)
        ]
        return tuple(told)

    async def owed(self, tenant: str, head: int, exclude: frozenset[str]) -> int:
        """How many of a tenant's latest things have no vectors yet, as of a position of the feed."""
        working = [space for space in self._at_hand() if space not in self._failures]
        behind = min(map(self.reached, working), default=head)
        if behind >= head:
            return 0
        changes = await self._storage.feed.read(behind, _LOOKED_AT)
        fresh = {change.id for change in changes if change.tenant == tenant and change.operation == "put"}
        return len(fresh - exclude)

    def _at_hand(self) -> dict[Space, Embedder]:
        """Where queries look, and what embeds there; one that is not there is left out."""
        return {
            space: embedder
            for space in self._asked()
            if (embedder := self._embedders.get(space)) is not None and embedder.absent is None
        }

    def _asked(self) -> list[Space]:
        return [space for space, state in self._states.items() if state in ("serving", "going")]

    def _coming(self) -> frozenset[Space]:
        return frozenset(space for space, state in self._states.items() if state == "coming")

    def _until(self, space: Space) -> str:
        """Why a space that serves cannot be asked here."""
        why = f"the model {space.model}, which its vectors are of, is not at hand, so it goes by words alone"
        if self.coming:
            return f"{why} until those of {', '.join(sorted(embedder.model for embedder in self.coming))} are whole"
        return f"{why}; start this process with the models of the others"
