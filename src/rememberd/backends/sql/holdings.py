"""Holdings on SQL: every revision a row; the current one is the one that nothing superseded."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from sqlalchemy import ColumnElement, bindparam, func, insert, or_, select, update

from rememberd.errors import StaleRevision
from rememberd.model import Filters, MemoryItem, Scope

from .dialect import Statement, in_list, integer
from .idempotency import FirstUse, check_same, first_uses, remember_use
from .schema import memories
from .transaction import announce
from .values import json_text, json_value, maybe_micros, maybe_moment, micros, moment, string_list

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rememberd.model import Operation
    from rememberd.ports.holdings import Put

    from .storage import Executor
    from .transaction import Reader, Row, Transaction

_current = memories.c.superseded_at.is_(None)
_kept = memories.c.deleted == 0
_then = (
    memories.c.revised_at <= integer("moment"),
    or_(memories.c.superseded_at.is_(None), memories.c.superseded_at > integer("moment")),
)
_of_tenant = memories.c.tenant == bindparam("tenant")

_GET = Statement(select(memories).where(_of_tenant, memories.c.id == bindparam("id"), _current))
_GET_MANY = Statement(select(memories).where(_of_tenant, in_list(memories.c.id, "ids"), _current, _kept))
_GET_MANY_THEN = Statement(select(memories).where(_of_tenant, in_list(memories.c.id, "ids"), *_then, _kept))
_VERSIONS = Statement(
    select(memories).where(_of_tenant, memories.c.id == bindparam("id")).order_by(memories.c.revision)
)
_ADD = Statement(insert(memories))
_SUPERSEDE = Statement(
    update(memories)
    .where(memories.c.tenant == bindparam("of_tenant"), memories.c.id == bindparam("of_id"), _current)
    .values(superseded_at=integer("by"))
)
_COUNT_ALL = Statement(select(func.count()).select_from(memories).where(_current, _kept))
_COUNT = Statement(select(func.count()).select_from(memories).where(_of_tenant, _current, _kept))

_PAGE = 500
_LAST = 2**62


@functools.cache
def _visible(*, owned: bool, then: bool) -> Statement:
    """Items of one owner (or of none), as they are or as they were, below a position, newest first."""
    chosen: list[ColumnElement[bool]] = [
        _of_tenant,
        _kept,
        memories.c.user == bindparam("user") if owned else memories.c.user.is_(None),
        memories.c.agent.is_(None) | (memories.c.agent == bindparam("agent")),
        memories.c.position < integer("below"),
        *(_then if then else (_current,)),
    ]
    return Statement(select(memories).where(*chosen).order_by(memories.c.position.desc()).limit(integer("limit")))


def _item(row: Row) -> MemoryItem:
    (
        position, tenant, id_, revision, user, agent, thread, kind, text, source, importance, topic, domain, at,
        revised_at, _, valid_from, valid_until, expires_at, deleted, metadata,
    ) = row  # fmt: skip
    return MemoryItem(
        id=id_, revision=revision, tenant=tenant, user=user, agent=agent, thread=thread, kind=kind, text=text,
        source=source, importance=importance, topic=topic, domain=domain, at=moment(at),
        revised_at=moment(revised_at), valid_from=maybe_moment(valid_from), valid_until=maybe_moment(valid_until),
        expires_at=maybe_moment(expires_at), deleted=bool(deleted), metadata=json_value(metadata), position=position,
    )  # fmt: skip


async def _get(reader: Reader, tenant: str, memory_id: str) -> MemoryItem | None:
    rows = await reader.rows(_GET, tenant=tenant, id=memory_id)
    return _item(rows[0]) if rows else None


class SqlHoldings:
    """Reads of the holdings."""

    def __init__(self, executor: Executor) -> None:
        self._read = executor.read

    async def get(self, tenant: str, memory_id: str) -> MemoryItem | None:
        return await self._read(lambda reader: _get(reader, tenant, memory_id))

    async def get_many(self, tenant: str, ids: Sequence[str], as_of: datetime | None = None) -> list[MemoryItem]:
        if not ids:
            return []
        wanted = string_list(ids)
        if as_of is None:
            rows = await self._read(lambda reader: reader.rows(_GET_MANY, tenant=tenant, ids=wanted))
        else:
            at = micros(as_of)
            rows = await self._read(lambda reader: reader.rows(_GET_MANY_THEN, tenant=tenant, ids=wanted, moment=at))
        return [_item(row) for row in rows]

    async def as_of(self, scope: Scope, moment: datetime, limit: int) -> list[MemoryItem]:
        below: int = _LAST
        found: list[MemoryItem] = []
        while len(found) < limit:
            page = await self._page(scope, below, moment)
            found += page
            if len(page) < _PAGE:
                break
            below = page[-1].position
        return found[:limit]

    async def versions(self, tenant: str, memory_id: str) -> list[MemoryItem]:
        rows = await self._read(lambda reader: reader.rows(_VERSIONS, tenant=tenant, id=memory_id))
        return [_item(row) for row in rows]

    async def count(self, tenant: str | None) -> int:
        if tenant is None:
            rows = await self._read(lambda reader: reader.rows(_COUNT_ALL))
        else:
            rows = await self._read(lambda reader: reader.rows(_COUNT, tenant=tenant))
        return cast("int", rows[0][0])

    async def _page(self, scope: Scope, below: int, then: datetime | None) -> list[MemoryItem]:
        values = {"tenant": scope.tenant, "agent": scope.agent, "below": below, "limit": _PAGE}
        if then is not None:
            values["moment"] = micros(then)

        async def look(reader: Reader) -> list[Row]:
            rows = await reader.rows(_visible(owned=False, then=then is not None), **values)
            if scope.user is not None:
                rows += await reader.rows(_visible(owned=True, then=then is not None), user=scope.user, **values)
            return rows

        rows = sorted(await self._read(look), key=lambda row: cast("int", row[0]), reverse=True)
        return [_item(row) for row in rows[:_PAGE]]

    async def list(
        self, scope: Scope, filters: Filters, *, after: int | None, limit: int, now: datetime
    ) -> list[MemoryItem]:
        below = _LAST if after is None else after
        chosen = []
        while True:
            page = await self._page(scope, below, None)
            chosen += [item for item in page if not item.expired_at(now) and filters.admits(item)]
            if len(chosen) >= limit or len(page) < _PAGE:
                return chosen[:limit]
            below = page[-1].position


async def put(transaction: Transaction, op: Put) -> MemoryItem:
    item = op.item
    if op.idempotency_key is not None:
        uses = await first_uses(transaction, item.tenant, [op.idempotency_key])
        if op.idempotency_key in uses:
            use = uses[op.idempotency_key]
            check_same(op.idempotency_key, use, op.digest)
            versions = await transaction.rows(_VERSIONS, tenant=item.tenant, id=use.answer)
            return next(version for version in map(_item, versions) if version.revision == use.seq)
    current = await _get(transaction, item.tenant, item.id)
    revision = current.revision if current else 0
    if item.revision != revision + 1:
        raise StaleRevision(f"memory {item.id!r} is at revision {revision}; read it again and repeat the change")
    if current is not None:
        await transaction.run(_SUPERSEDE, of_tenant=item.tenant, of_id=item.id, by=micros(item.revised_at))
    operation: Operation = "delete" if item.deleted else "put"
    position = await announce(transaction, item.tenant, "memory", item.id, operation)
    await transaction.run(
        _ADD, position=position, tenant=item.tenant, id=item.id, revision=item.revision, user=item.user,
        agent=item.agent, thread=item.thread, kind=item.kind, text=item.text, source=item.source,
        importance=item.importance, topic=item.topic, domain=item.domain, at=micros(item.at),
        revised_at=micros(item.revised_at), superseded_at=None, valid_from=maybe_micros(item.valid_from),
        valid_until=maybe_micros(item.valid_until), expires_at=maybe_micros(item.expires_at),
        deleted=int(item.deleted), metadata=json_text(item.metadata),
    )  # fmt: skip
    if op.idempotency_key is not None:
        use = FirstUse(op.digest, item.id, None, item.revision)
        remember_use(transaction, item.tenant, op.idempotency_key, use)
    return replace(item, position=position)
