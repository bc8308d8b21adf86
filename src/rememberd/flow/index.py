"""Following the feed: from changes in the storage to documents in the index."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rememberd.language.searchable import worded
from rememberd.language.segment import terms
from rememberd.model import KINDS, MESSAGE, MemoryItem, Message
from rememberd.ports.index import Document, Gone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rememberd.model import Change
    from rememberd.model.change import Noun
    from rememberd.ports.index import Index
    from rememberd.ports.storage import Storage

BATCH = 500
_SLICE = 50


async def apply_next(storage: Storage, index: Index, batch: int = BATCH, *, rest: float = 0.0) -> int:
    """Apply the next changes of the feed to the index; answers how many there were. Repeating it is harmless.

    If it shall rest, ``rest`` times as long as it worked, it takes them in slices, and rests in between.
    """
    changes = await storage.feed.read(await index.watermark(), batch)
    step = _SLICE if rest else batch
    for start in range(0, len(changes), step):
        began = time.monotonic()
        part = changes[start : start + step]
        things = await _read(storage, part)
        documents = await asyncio.to_thread(things.documents, part)
        await index.apply(documents, part[-1].position)
        await asyncio.sleep(rest * (time.monotonic() - began))
    return len(changes)


@dataclass(frozen=True, slots=True)
class _Things:
    """What changed, as the storage has it now, by tenant, noun and id."""

    found: dict[tuple[str, str, str], Message | MemoryItem]
    vectors: dict[tuple[str, str, str], dict[str, bytes]]

    def documents(self, changes: Sequence[Change]) -> list[Document | Gone]:
        """What the index has to hold, or to let go of, after each change."""
        return [self._document(change) for change in changes]

    def _document(self, change: Change) -> Document | Gone:
        address = (change.tenant, change.noun, change.id)
        thing = self.found.get(address)
        if isinstance(thing, Message):
            return _of_message(thing, self.vectors.get(address, {}))
        if thing is not None and KINDS[thing.kind].indexed:
            return _of_item(thing, self.vectors.get(address, {}))
        return Gone(change.tenant, change.noun, change.id)


async def _read(storage: Storage, changes: Sequence[Change]) -> _Things:
    things = _Things({}, {})
    for tenant in dict.fromkeys(change.tenant for change in changes):
        ids: dict[Noun, list[str]] = {"message": [], "memory": []}
        for change in changes:
            if change.tenant == tenant:
                ids[change.noun].append(change.id)
        for message in await storage.records.messages(tenant, ids["message"]):
            things.found[tenant, "message", message.id] = message
        for item in await storage.holdings.get_many(tenant, ids["memory"]):
            things.found[tenant, "memory", item.id] = item
        for vector in await storage.vectors.get(tenant, ids["message"] + ids["memory"]):
            things.vectors.setdefault((tenant, vector.noun, vector.id), {})[vector.space] = vector.data
    return things


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
