"""Following the feed: from texts to vectors, in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd import crash
from rememberd.language.searchable import spoken
from rememberd.ports.feed import Advance
from rememberd.ports.vectors import PutVectors, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.model import Change
    from rememberd.model.change import Noun
    from rememberd.ports.models import Embedder
    from rememberd.ports.storage import Storage

BATCH = 64


FOLLOWER = "embed"


async def embed_next(storage: Storage, embedders: Sequence[Embedder], batch: int = BATCH) -> int:
    """Store the vectors that the next changes of the feed owe, and how far that brought us, in one transaction.

    Answers how many changes there were. Repeating it is harmless.
    """
    changes = await storage.feed.read(await storage.feed.reached(FOLLOWER), batch)
    if changes:
        vectors = await _vectors(storage, embedders, changes)
        crash.point("embed.middle")
        await storage.write(Advance(FOLLOWER, changes[-1].position), PutVectors(vectors=tuple(vectors)))
    return len(changes)


async def _vectors(storage: Storage, embedders: Sequence[Embedder], changes: Sequence[Change]) -> list[Vector]:
    owed: dict[str, dict[str, Noun]] = {}
    for change in changes:
        if change.operation == "put":
            owed.setdefault(change.tenant, {})[change.id] = change.noun
    made: list[Vector] = []
    for tenant, nouns in owed.items():
        texts = {
            message.id: spoken(message.content, message.name)
            for message in await storage.records.messages(tenant, list(nouns))
        }
        texts |= {item.id: item.text for item in await storage.holdings.get_many(tenant, list(nouns))}
        for embedder in embedders:
            taken = [id_ for id_, text in texts.items() if embedder.takes(text)]
            data = await embedder.embed([texts[id_] for id_ in taken])
            made += [
                Vector(tenant=tenant, noun=nouns[id_], id=id_, lane=embedder.lane, model=embedder.model, data=vector)
                for id_, vector in zip(taken, data, strict=True)
            ]
    return made
