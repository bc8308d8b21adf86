"""Following the feed: from texts to vectors, in the background; and changing the models while queries go on."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from rememberd import crash
from rememberd.errors import ModelUnavailable, SettingsError
from rememberd.flow.things import by_address, by_tenant, read_things
from rememberd.language.searchable import spoken
from rememberd.language.sentences import parts
from rememberd.language.tokens import estimate
from rememberd.model import Message
from rememberd.ports.feed import Advance
from rememberd.ports.models import space_of
from rememberd.ports.vectors import PutVectors, Vector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rememberd.flow.things import Thing
    from rememberd.model import Change
    from rememberd.model.change import Noun
    from rememberd.ports.index import Index
    from rememberd.ports.lanes import Lanes
    from rememberd.ports.models import Embedder
    from rememberd.ports.storage import Storage

    Changed = tuple[str, Noun, str]

BATCH = 128
_BYTES = 4  # of a float32


async def embed_next(storage: Storage, lanes: Lanes, batch: int = BATCH) -> int:
    """Store the vectors that the next changes of the feed owe to the lanes that serve.

    Answers how many changes there were. Repeating it is harmless.
    """
    if not storage.exclusive:
        await lanes.look()
    return await _follow(storage, lanes, lanes.serving, batch)


class Reembedding:
    """Brings the coming lanes up to the head of the feed, and lets them serve when they, and the index, are there.

    Where a process was killed, the next goes on: what was embedded is stored with how far that brought us.
    """

    def __init__(self, storage: Storage, index: Index, lanes: Lanes) -> None:
        self._storage, self._index, self._lanes = storage, index, lanes
        self._whole_at: int | None = None

    async def next(self, batch: int = BATCH) -> int:
        """One step; answers how many changes were followed."""
        coming = self._lanes.coming
        if not coming:
            self._whole_at = None
            return 0
        followed = await _follow(self._storage, self._lanes, coming, batch)
        if followed == batch or any(self._lanes.failure_of(space_of(embedder)) for embedder in coming):
            self._whole_at = None
        elif self._whole_at is None:
            self._whole_at = await self._storage.feed.head()
        elif await self._reached(coming) >= self._whole_at:
            await self._lanes.serve()
        return followed

    async def _reached(self, coming: Sequence[Embedder]) -> int:
        """How far every lane and the index have come."""
        return min(await self._index.watermark(), *(self._lanes.reached(space_of(embedder)) for embedder in coming))


async def _follow(storage: Storage, lanes: Lanes, embedders: Sequence[Embedder], batch: int) -> int:
    """One step for each lane: those that are equally far share it, and one that fails holds up no other."""
    places = defaultdict(list)
    for embedder in embedders:
        places[lanes.reached(space_of(embedder))].append(embedder)
    most = 0
    for place, together in sorted(places.items(), reverse=True):
        changes, upto = await storage.feed.texts(place, batch)
        if upto == place:
            continue
        texts = await _texts(storage, changes)
        made: list[Vector] = []
        advances: list[Advance] = []
        working: list[Embedder] = []
        for embedder in together:
            try:
                made += await _vectors(embedder, texts)
            except (ModelUnavailable, SettingsError) as failure:
                lanes.failed(embedder, failure)
            else:
                advances.append(Advance(space_of(embedder).follower, upto))
                working.append(embedder)
        if advances:
            crash.point("embed.middle")
            if changes or not storage.exclusive:  # else nobody has to know but ourselves
                await storage.write(PutVectors(vectors=tuple(made)), *advances)
            for embedder in working:
                lanes.followed(embedder, upto)
            most = max(most, len(changes))
    return most


async def _texts(storage: Storage, changes: Sequence[Change]) -> dict[Changed, str | None]:
    """The texts of what changed, as they are now; None of what is gone."""
    texts: dict[Changed, str | None] = {(change.tenant, change.noun, change.id): None for change in changes}
    for tenant, addresses in by_tenant(texts).items():
        found = by_address(await read_things(storage, tenant, addresses))
        texts |= {(tenant, *address): _text(thing) for address, thing in found.items()}
    return texts


def _text(thing: Thing) -> str:
    return spoken(thing.content, thing.name) if isinstance(thing, Message) else thing.text


async def _vectors(embedder: Embedder, texts: Mapping[Changed, str | None]) -> list[Vector]:
    """The vectors that a lane makes of the texts it takes: one for each part of a text that is longer than its window.

    What it held of another text of the thing, it lets go.
    """
    cut = {
        thing: parts(text, embedder.window, estimate) or [text]
        for thing, text in texts.items()
        if text is not None and embedder.takes(text)
    }
    made = iter(await embedder.embed([part for pieces in cut.values() for part in pieces]))
    data = {thing: b"".join(islice(made, len(pieces))) for thing, pieces in cut.items()}
    for thing, vectors in data.items():
        if len(vectors) != len(cut[thing]) * embedder.dimension * _BYTES:
            found = len(vectors) // _BYTES // len(cut[thing])
            raise SettingsError(f"the lane {embedder.lane} has dimension {embedder.dimension}, but a vector of {found}")
    changeable = {thing: b"" for thing, text in texts.items() if text is None or thing[1] == "memory"}
    return [
        Vector(tenant=tenant, noun=noun, id=id_, lane=embedder.lane, model=embedder.model, data=vectors)
        for (tenant, noun, id_), vectors in (changeable | data).items()
    ]
