"""The record of a scope, read back page by page; with a search, only the messages that have all of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.language.segment import phrase_terms, terms
from rememberd.model import MESSAGE, Filters, Message, Page, Scope
from rememberd.ports.index import Search

from .cursor import read_cursor, write_cursor
from .tail import unapplied

if TYPE_CHECKING:
    from rememberd.ports.index import Index
    from rememberd.ports.records import Order
    from rememberd.ports.storage import Storage

_MOST_MATCHES = 10_000


async def read_history(
    storage: Storage, index: Index, scope: Scope, *, order: Order, after: str | None, limit: int, search: str | None
) -> Page[Message]:
    of = ("history", scope, order, search)
    place: int | None = read_cursor(after, int, *of)
    if search is None:
        found = await storage.records.history(scope, order=order, after=place, until=None, limit=limit + 1)
    else:
        found = _beyond(await _matching(storage, index, scope, search), order, place)
    page = found[:limit]
    more = len(found) > limit
    return Page(tuple(page), write_cursor(page[-1].position, *of) if more else None)


async def _matching(storage: Storage, index: Index, scope: Scope, search: str) -> list[Message]:
    wanted = phrase_terms(search)
    if not wanted:
        return []
    filters = Filters(kind=(MESSAGE,), thread=(scope.thread,) if scope.thread else ())
    proposed = await index.search(Search(scope=scope, filters=filters, terms=wanted, match="all", limit=_MOST_MATCHES))
    ids = set(proposed.proposals.ids.tolist())  # the filter lets only messages through
    tail = await unapplied(storage, scope.tenant, proposed.watermark)
    ids |= {id_ for noun, id_ in tail.things if noun == "message"}
    messages = await storage.records.messages(scope.tenant, sorted(ids))
    return [
        message
        for message in messages
        if scope.sees(message.user, message.agent)
        and (scope.thread is None or scope.thread == message.thread)
        and set(wanted) <= set(terms(message.content))
    ]


def _beyond(messages: list[Message], order: Order, place: int | None) -> list[Message]:
    newest = order == "newest"
    if place is not None:
        messages = [message for message in messages if (message.position < place) == newest]
        messages = [message for message in messages if message.position != place]
    return sorted(messages, key=lambda message: message.position, reverse=newest)
