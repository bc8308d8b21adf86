"""Following the feed: from changes in the storage to documents in the index."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rememberd.language.searchable import worded
from rememberd.language.segment import terms
from rememberd.model import KINDS, MESSAGE, Message
from rememberd.ports.index import Document, Gone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rememberd.model import Change, MemoryItem
    from rememberd.ports.index import Index
    from rememberd.ports.storage import Storage

BATCH = 500
_SLICE = 8


async def apply_next(storage: Storage, index: Index, batch: int = BATCH) -> int:
    """Apply the next changes of the feed to the index; answers how many there were. Repeating it is harmless."""
    changes = await storage.feed.read(await index.watermark(), batch)
    if changes:
        await index.apply(await documents(storage, changes), changes[-1].position)
    return len(changes)


async def documents(storage: Storage, changes: Sequence[Change]) -> list[Document | Gone]:
    """What the index has to hold, or to let go of, after these changes; read from the storage as it is now."""
    by_tenant: dict[str, dict[tuple[str, str], Change]] = {}
    for change in changes:
        by_tenant.setdefault(change.tenant, {})[change.noun, change.id] = change
    made: list[Document | Gone] = []
    for tenant, latest in by_tenant.items():
        messages = await storage.records.messages(tenant, [id_ for noun, id_ in latest if noun == "message"])
        items = await storage.holdings.get_many(tenant, [id_ for noun, id_ in latest if noun == "memory"])
        vectors: dict[tuple[str, str], dict[str, bytes]] = {}
        for vector in await storage.vectors.get(tenant, [id_ for _, id_ in latest]):
            vectors.setdefault((vector.noun, vector.id), {})[vector.space] = vector.data
        indexed = [item for item in items if KINDS[item.kind].indexed]
        found = await _documents(messages, indexed, vectors)
        present = {(document.noun, document.id) for document in found}
        made += found
        made += [Gone(tenant, noun, id_) for (noun, id_) in latest if (noun, id_) not in present]  # type: ignore[arg-type]
    return made


async def _documents(
    messages: Sequence[Message], items: Sequence[MemoryItem], vectors: Mapping[tuple[str, str], Mapping[str, bytes]]
) -> list[Document]:
    """Segmenting takes time; others get their turn in between."""
    made: list[Document] = []
    things: list[Message | MemoryItem] = [*messages, *items]
    for i, thing in enumerate(things, 1):
        if isinstance(thing, Message):
            made.append(_of_message(thing, vectors.get(("message", thing.id), {})))
        else:
            made.append(_of_item(thing, vectors.get(("memory", thing.id), {})))
        if i % _SLICE == 0:
            await asyncio.sleep(0)
    return made


def _of_message(message: Message, vectors: Mapping[str, bytes]) -> Document:
    return Document(
        noun="message", id=message.id, tenant=message.tenant, user=message.user, agent=message.agent,
        thread=message.thread, seq=message.seq, name=message.name, kind=MESSAGE, role=message.role, topic=None,
        domain=None, source=None,
        at=message.at, terms=tuple(terms(worded(message.content, message.name, message.at))),
        metadata=message.metadata, vectors=vectors,
    )  # fmt: skip


def _of_item(item: MemoryItem, vectors: Mapping[str, bytes]) -> Document:
    return Document(
        noun="memory", id=item.id, tenant=item.tenant, user=item.user, agent=item.agent, thread=item.thread,
        kind=item.kind, role=None, topic=item.topic, domain=item.domain, source=item.source, at=item.at,
        terms=tuple(terms(item.text)), metadata=item.metadata, vectors=vectors,
    )  # fmt: skip
