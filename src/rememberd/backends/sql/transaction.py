"""The waist between statements and executors: reader, transaction, and the group commit that both share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from sqlalchemy import func, insert, select, union_all

from rememberd import crash
from rememberd.errors import RememberdError

from . import schema
from .dialect import Statement

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

    def refusal(self, error: Exception) -> RememberdError | None:
        """Our error for one of the driver's that says that a statement was refused for what it is; None for any
        other, which says that the storage cannot be used."""
        ...


Operate: TypeAlias = Callable[[Transaction], Awaitable[Any]]

#: A row that writers of several processes hold, so that they take turns.
LOCK = Statement(select(schema.feed_lock.c.id).where(schema.feed_lock.c.id == 1).with_for_update())

_reached = union_all(
    select(func.max(schema.messages.c.position).label("position")), select(func.max(schema.feed.c.position))
).subquery()
HEAD = Statement(select(func.coalesce(func.max(_reached.c.position), 0)))
_ADD_CHANGE = Statement(insert(schema.feed))


def next_position(transaction: Transaction) -> int:
    """Writers are serial from the first statement to the commit, so positions are in commit order."""
    transaction.position += 1
    return transaction.position


async def announce(transaction: Transaction, tenant: str, noun: Noun, thing: str, operation: Operation) -> int:
    """Append a change to the feed; answers its position. That a message was recorded tells its own row."""
    position = next_position(transaction)
    await transaction.run(_ADD_CHANGE, position=position, tenant=tenant, noun=noun, id=thing, operation=operation)
    return position


@dataclass(slots=True)
class Work:
    """One call's operations, waiting for the next group commit. Without a future nobody waits for it."""

    operate: Operate
    future: asyncio.Future[Any] | None = None
    answer: Any = None
    failure: BaseException | None = None


async def commit_group(begin: Callable[[], Awaitable[Transaction]], group: Sequence[Work]) -> None:
    """Carry out many calls in one transaction, each as if it were alone.

    A call that fails before it wrote anything fails alone. One that fails after, or that the storage refuses, takes
    the transaction with it, and then every call of the group is carried out in a transaction of its own.
    """
    transaction = await begin()
    for work in group:
        before = transaction.changed
        try:
            work.answer = await work.operate(transaction)
        except Exception as error:
            ours = isinstance(error, RememberdError)
            if ours and transaction.changed == before:
                work.failure = error
                continue
            await transaction.rollback()
            failure = error if ours else transaction.refusal(error)
            if failure is None:
                raise
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
