"""What is kept about threads on SQL: whose each is, how long, and when it was last used."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, select

from .dialect import Addition, Statement, in_list
from .schema import threads
from .transaction import learn
from .values import string_list

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .transaction import Address, Reader, Transaction

_FIND = Statement(select(threads).where(threads.c.tenant == bindparam("tenant"), in_list(threads.c.thread, "wanted")))
_KEEP = Addition(threads, replacing=True)


class Thread(NamedTuple):
    """A row of the table; times are microseconds, as columns hold them."""

    tenant: str
    thread: str
    user: str | None
    last_seq: int
    session_from: int
    last_used: int


async def find_threads(reader: Reader, tenant: str, wanted: Iterable[str]) -> dict[str, Thread]:
    rows = await reader.rows(_FIND, tenant=tenant, wanted=string_list(wanted))
    return {row[1]: Thread(*row) for row in rows}


async def learn_threads(transaction: Transaction, wanted: Iterable[Address]) -> None:
    await learn(transaction, transaction.threads, wanted, find_threads)


async def thread_of(transaction: Transaction, tenant: str, thread: str) -> Thread | None:
    """A thread with what the transaction has changed of it, or None."""
    if (tenant, thread) not in transaction.threads:
        await learn_threads(transaction, [(tenant, thread)])
    return transaction.threads[tenant, thread]


def keep_thread(transaction: Transaction, thread: Thread) -> None:
    transaction.threads[thread.tenant, thread.thread] = thread
    transaction.add(_KEEP, thread)
