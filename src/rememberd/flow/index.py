"""Following the feed: from changes in the storage to documents in the index."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rememberd.flow.things import Thing, by_address, by_tenant, read_things
from rememberd.language.searchable import worded
from rememberd.language.segment import terms
from rememberd.model import KINDS, MESSAGE, MemoryItem, Message
from rememberd.ports.index import Document, Embedded, Gone

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rememberd.model import Change
    from rememberd.model.change import Noun
    from rememberd.ports.index import Index
    from rememberd.ports.storage import Storage

    Rest = Callable[[float], Awaitable[None]]
    Changed = tuple[str, Noun, str]

BATCH = 500
_SLICE = 100
_BREATH = 0.00005  # seconds


async def apply_next(storage: Storage, index: Index, batch: int = BATCH, *, rest: Rest | None = None) -> int:
    """Apply the next changes of the feed to the index; answers how many there were. Repeating it is harmless.

    If it shall ``rest``, it takes them in slices, rests in between, told for how many seconds it worked, and takes a
    breath after each document: callers would wait for the interpreter otherwise.
    """
    changes = await storage.feed.read(await index.watermark(), batch)
    step = _SLICE if rest else batch
    for start in range(0, len(changes), step):
        began = time.monotonic()
        part = changes[start : start + step]
        things = await _read(storage, part)
        told = await asyncio.to_thread(things.told, breath=_BREATH if rest else 0)
        await index.apply(told, part[-1].position)
        if rest:
            await rest(time.monotonic() - began)
    return len(changes)


@dataclass(frozen=True, slots=True)
class _Things:
    """What changed, each thing once: as a whole, or only in its vectors; and what the storage has of it now."""

    whole: Mapping[Changed, bool]
    found: dict[Changed, Thing]
    vectors: dict[Changed, dict[str, bytes]]

    def told(self, *, breath: float) -> list[Document | Embedded | Gone]:
        """What the index has to hold, or to let go of."""
        told: list[Document | Embedded | Gone] = []
        for thing, whole in self.whole.items():
            told.append(self._told(thing) if whole else self._embedded(thing))
            if breath:
                time.sleep(breath)
        return told

    def _told(self, thing: Changed) -> Document | Gone:
        found, vectors = self.found.get(thing), self.vectors.get(thing, {})
        if isinstance(found, Message):
            return _of_message(found, vectors)
        if found is not None and KINDS[found.kind].indexed:
            return _of_item(found, vectors)
        return Gone(*thing)

    def _embedded(self, thing: Changed) -> Embedded:
        return Embedded(*thing, self.vectors.get(thing, {}))


async def _read(storage: Storage, changes: Sequence[Change]) -> _Things:
    whole: dict[Changed, bool] = {}
    for change in changes:
        thing = (change.tenant, change.noun, change.id)
        whole[thing] = change.operation != "embed" or whole.get(thing, False)
    things = _Things(whole, {}, {})
    for tenant, addresses in by_tenant(whole).items():
        changed = [address for address in addresses if whole[tenant, *address]]
        found = by_address(await read_things(storage, tenant, changed))
        things.found.update({(tenant, *address): thing for address, thing in found.items()})
        for vector in await storage.vectors.get(tenant, [id_ for _, id_ in addresses]):
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
