"""The waist between statements and executors: reader, transaction, and the group commit that both share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from sqlalchemy import insert, select, update

from rememberd import crash
from rememberd.errors import RememberdError

from . import schema
from .dialect import Statement, integer

if TYPE_CHECKING:
    from rememberd.model.change import Noun, Operation

Row: TypeAlias = tuple[Any, ...]
R = TypeVar("R")


class Reader(Protocol):
    """Runs statements that change nothing."""

    async def rows(self, statement: Statement, /, **values: Any) -> list[Row]: ...


class Transaction(Reader, Protocol):
    """The one open write transaction. ``changed`` counts the statements that wrote."""

    position: int
    changed: int

    async def run(self, statement: Statement, /, **values: Any) -> int:
        """Run a statement that writes; answer how many rows it touched."""
        ...

    async def commit(self) -> None: ...

    async def rollback(self) -> None: ...


Operate: TypeAlias = Callable[[Transaction], Awaitable[Any]]

HEAD = Statement(select(schema.feed_head.c.position).where(schema.feed_head.c.id == 1))
HEAD_LOCKED = Statement(select(schema.feed_head.c.position).where(schema.feed_head.c.id == 1).with_for_update())
_MOVE_HEAD = Statement(update(schema.feed_head).where(schema.feed_head.c.id == 1).values(position=integer("reached")))
_ADD_CHANGE = Statement(insert(schema.feed))


async def announce(transaction: Transaction, tenant: str, noun: Noun, thing: str, operation: Operation) -> int:
    """Append a change to the feed; answers its position.

    Writers are serial from the first statement to the commit, so positions are in commit order.
    """
    transaction.position += 1
    await transaction.run(
        _ADD_CHANGE, position=transaction.position, tenant=tenant, noun=noun, id=thing, operation=operation
    )
    return transaction.position


@dataclass(slots=True)
class Work:
    """One call's operations, waiting for the next group commit. Without a future nobody waits for it."""

    operate: Operate
    future: asyncio.Future[Any] | None = None
    answer: Any = None
    failure: BaseException | None = None


async def commit_group(begin: Callable[[], Awaitable[Transaction]], group: Sequence[Work]) -> None:
    """Carry out many calls in one transaction, each as if it were alone.

    A call that fails before it wrote anything fails alone. One that fails after takes the transaction with it,
    and then every call of the group is carried out in a transaction of its own.
    """
    transaction = await begin()
    head = transaction.position
    for work in group:
        before = transaction.changed
        try:
            work.answer = await work.operate(transaction)
        except RememberdError as failure:
            if transaction.changed == before:
                work.failure = failure
                continue
            await transaction.rollback()
            if len(group) == 1:
                work.failure = failure
                return
            for single in group:
                single.answer, single.failure = None, None
                await commit_group(begin, [single])
            return
        except BaseException:
            await transaction.rollback()
            raise
    if transaction.position != head:
        await transaction.run(_MOVE_HEAD, reached=transaction.position)
    crash.point("commit.middle")
    await transaction.commit()
    crash.point("commit.done")


def settle(works: Sequence[Work], failure: BaseException | None = None) -> None:
    """Answer the callers of a group, on the loop of their futures."""
    for work in works:
        if work.future is None or work.future.done():
            continue
        problem = failure or work.failure
        if problem is not None:
            work.future.set_exception(problem)
        else:
            work.future.set_result(work.answer)
