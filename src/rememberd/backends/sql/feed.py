"""The feed on SQL: the messages in the order they were recorded, and between them what ``announce`` wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import ColumnElement, Select, bindparam, func, insert, select, text, union_all, update

from rememberd.model import Change

from .dialect import Statement, integer
from .schema import feed, followers, messages
from .transaction import HEAD

if TYPE_CHECKING:
    from rememberd.ports.feed import Advance

    from .storage import Executor
    from .transaction import Reader, Row, Transaction

_recorded = select(
    messages.c.position, messages.c.tenant, text("'message' AS noun"), messages.c.id, text("'put' AS operation")
)
_announced = select(feed.c.position, feed.c.tenant, feed.c.noun, feed.c.id, feed.c.operation)


def _next(changes: Select[Any], position: ColumnElement[int]) -> Select[Any]:
    page = changes.where(position > integer("after")).order_by(position).limit(integer("limit"))
    return select(text("*")).select_from(page.subquery())


_AFTER = Statement(
    union_all(_next(_recorded, messages.c.position), _next(_announced, feed.c.position))
    .order_by(text("position"))
    .limit(integer("limit"))
)
_RECORDED = Statement(
    _recorded.where(messages.c.position > integer("after"), messages.c.position <= integer("upto"))
    .order_by(messages.c.position)
    .limit(integer("limit"))
)
_ANNOUNCED_TEXTS = Statement(
    _announced.where(
        feed.c.position > integer("after"), feed.c.position <= integer("upto"), feed.c.operation != "embed"
    )
    .order_by(feed.c.position)
    .limit(integer("limit"))
)
_recorded_after = select(func.count()).select_from(messages).where(messages.c.position > integer("after"))
_put_after = select(func.count()).select_from(feed).where(feed.c.position > integer("after"), feed.c.operation == "put")
_PUTS = Statement(select(_recorded_after.scalar_subquery() + _put_after.scalar_subquery()))
_REACHED = Statement(select(followers.c.position).where(followers.c.follower == bindparam("who")))
_START = Statement(insert(followers))
_MOVE = Statement(update(followers).where(followers.c.follower == bindparam("who")).values(position=integer("to")))


async def _reached(reader: Reader, follower: str) -> int | None:
    rows = await reader.rows(_REACHED, who=follower)
    return cast("int", rows[0][0]) if rows else None


class SqlFeed:
    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._read = executor.read

    async def head(self) -> int:
        head = self._executor.head  # another thread moves it
        if head is not None:
            return head
        rows = await self._read(lambda reader: reader.rows(HEAD))
        return cast("int", rows[0][0])

    async def read(self, after: int, limit: int) -> list[Change]:
        head = self._executor.head
        if head is not None and after >= head:
            return []
        rows = await self._read(lambda reader: reader.rows(_AFTER, after=after, limit=limit))
        return [Change(*row) for row in rows]

    async def texts(self, after: int, limit: int) -> tuple[list[Change], int]:
        head = await self.head()
        if after >= head:
            return [], after

        async def look(reader: Reader) -> list[Row]:
            """Between the messages there may be thousands of vectors: it looks no farther than it has to."""
            recorded = await reader.rows(_RECORDED, after=after, upto=head, limit=limit)
            upto = recorded[-1][0] if len(recorded) == limit else head
            return recorded + await reader.rows(_ANNOUNCED_TEXTS, after=after, upto=upto, limit=limit)

        changes = [Change(*row) for row in sorted(await self._read(look))[:limit]]
        return changes, changes[-1].position if len(changes) == limit else head

    async def puts(self, after: int) -> int:
        rows = await self._read(lambda reader: reader.rows(_PUTS, after=after))
        return cast("int", rows[0][0])

    async def reached(self, follower: str) -> int:
        return await self._read(lambda reader: _reached(reader, follower)) or 0


async def advance(transaction: Transaction, op: Advance) -> None:
    reached = await _reached(transaction, op.follower)
    if reached is None:
        await transaction.run(_START, follower=op.follower, position=op.position)
    elif op.position > reached:
        await transaction.run(_MOVE, who=op.follower, to=op.position)
