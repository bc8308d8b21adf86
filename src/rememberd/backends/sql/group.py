"""Group commit: calls that wait at the same moment are carried out in one transaction, on every executor."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rememberd import crash
from rememberd.errors import RememberdError

from .operations import Operations, carry_out, look_ahead

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from .transaction import Transaction


@dataclass(slots=True)
class Work:
    """One call's operations, waiting for the next group commit. Without a future nobody waits for it."""

    operations: Operations
    future: asyncio.Future[Any] | None = None
    answer: Any = None
    failure: BaseException | None = None


async def commit_group(begin: Callable[[], Awaitable[Transaction]], group: Sequence[Work]) -> None:
    """Carry out many calls in one transaction, each as if it were alone.

    A call that fails before it wrote anything fails alone. One that fails after, or that the storage refuses, takes
    the transaction with it, and then every call of the group is carried out in a transaction of its own.
    """
    transaction = await begin()
    try:
        await look_ahead(transaction, [operation for work in group for operation in work.operations])
        for work in group:
            before = transaction.changed
            try:
                work.answer = await carry_out(transaction, work.operations)
            except RememberdError as error:
                if transaction.changed != before:
                    raise
                work.failure = error
        await transaction.write_added()
    except Exception as error:
        await transaction.rollback()
        failure = error if isinstance(error, RememberdError) else transaction.refusal(error)
        if failure is None:
            raise
        if len(group) == 1:
            group[0].failure = failure
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
