"""The feed on SQL. It is written by ``transaction.announce``."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlalchemy import bindparam, func, insert, select, update

from rememberd.model import Change

from .dialect import Statement, integer
from .schema import feed, followers
from .transaction import HEAD

if TYPE_CHECKING:
    from rememberd.ports.feed import Advance

    from .storage import Executor
    from .transaction import Reader, Transaction

_AFTER = Statement(
    select(feed.c.position, feed.c.tenant, feed.c.noun, feed.c.id, feed.c.operation)
    .where(feed.c.position > integer("after"))
    .order_by(feed.c.position)
    .limit(integer("limit"))
)
_PUTS = Statement(
    select(func.count()).select_from(feed).where(feed.c.position > integer("after"), feed.c.operation == "put")
)
_REACHED = Statement(select(followers.c.position).where(followers.c.follower == bindparam("who")))
_START = Statement(insert(followers))
_MOVE = Statement(update(followers).where(followers.c.follower == bindparam("who")).values(position=integer("to")))


async def _reached(reader: Reader, follower: str) -> int | None:
    rows = await reader.rows(_REACHED, who=follower)
    return cast("int", rows[0][0]) if rows else None


class SqlFeed:
    def __init__(self, executor: Executor) -> None:
        self._read = executor.read

    async def head(self) -> int:
        rows = await self._read(lambda reader: reader.rows(HEAD))
        return cast("int", rows[0][0])

    async def read(self, after: int, limit: int) -> list[Change]:
        rows = await self._read(lambda reader: reader.rows(_AFTER, after=after, limit=limit))
        return [Change(*row) for row in rows]

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
