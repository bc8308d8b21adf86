"""Recognising: a memory item that says what its owner's memory holds already is the next revision of that, not a new
item."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd.errors import RememberdError
from rememberd.flow.tail import unapplied
from rememberd.language.segment import terms
from rememberd.language.similar import Shape, adds_nothing
from rememberd.model import KINDS, Filters
from rememberd.ports.index import Search

if TYPE_CHECKING:
    from rememberd.model import MemoryItem
    from rememberd.ports.index import Index
    from rememberd.ports.storage import Storage

_LONGEST = 2000  # characters; longer texts are documents more than statements
_TERMS = 64  # that have to stand in an item for it to be looked at
_PROPOSALS = 20
_TAIL = 500  # changes that the index has not applied; behind more of them, they are not looked through
_MUST_AGREE = ("kind", "user", "agent", "valid_from", "valid_until", "expires_at")
_MAY_BE_FILLED_IN = ("source", "topic", "domain")


async def recognised(storage: Storage, index: Index, item: MemoryItem) -> MemoryItem | None:
    """The next revision of what says the same already, or None: the item is new.

    It has to be of the same owner and kind, hold and expire at the same times, and contradict no field of the item.
    """
    wanted = tuple(dict.fromkeys(terms(item.text)))[:_TERMS]
    if not wanted or len(item.text) > _LONGEST or not KINDS[item.kind].indexed:
        return None
    try:
        ids = await _proposed(storage, index, item, wanted)
        found = await storage.holdings.get_many(item.tenant, sorted(ids)) if ids else []
    except RememberdError:  # whether something is new is never worth losing it
        return None
    new = Shape(item.text)
    same = [
        held
        for held in found
        if not held.expired_at(item.at) and _agree(item, held) and adds_nothing(new, to=Shape(held.text))
    ]
    return _said_again(min(same, key=lambda held: (held.at, held.id)), item) if same else None


async def _proposed(storage: Storage, index: Index, item: MemoryItem, wanted: tuple[str, ...]) -> set[str]:
    filters = Filters(kind=(item.kind,))
    proposed = await index.search(
        Search(scope=item.scope, filters=filters, terms=wanted, match="all", limit=_PROPOSALS)
    )
    tail = (await unapplied(storage, item.tenant, proposed.watermark)).things
    ids = set(proposed.proposals.ids.tolist())
    return ids | {id_ for noun, id_ in tail if noun == "memory"} if len(tail) <= _TAIL else ids


def _agree(item: MemoryItem, held: MemoryItem) -> bool:
    return (
        all(getattr(item, name) == getattr(held, name) for name in _MUST_AGREE)
        and all(_no_contradiction(getattr(item, name), getattr(held, name)) for name in _MAY_BE_FILLED_IN)
        and all(held.metadata.get(key, value) == value for key, value in item.metadata.items())
    )


def _no_contradiction(said: str | None, known: str | None) -> bool:
    return said is None or known is None or said == known


def _said_again(held: MemoryItem, item: MemoryItem) -> MemoryItem:
    """What is held, with what was not known of it, and the higher importance."""
    known = {name: getattr(held, name) or getattr(item, name) for name in _MAY_BE_FILLED_IN}
    return replace(
        held,
        **known,
        importance=max(held.importance, item.importance),
        metadata={**item.metadata, **held.metadata},
        revision=held.revision + 1,
        revised_at=item.revised_at,
    )
