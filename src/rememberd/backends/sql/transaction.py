"""The waist between statements and executors: reader and transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from sqlalchemy import func, select, union_all

from . import schema
from .dialect import Addition, Statement

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from rememberd.errors import RememberdError
    from rememberd.model.change import Noun, Operation

    from .idempotency import FirstUse
    from .threads import Thread

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = dict[str, Any]
Address: TypeAlias = tuple[str, str]  # a name within a tenant
Threads: TypeAlias = "dict[Address, Thread | None]"
T = TypeVar("T")


class Reader(Protocol):
    """Runs statements that change nothing."""

    async def rows(self, statement: Statement, /, **values: Any) -> list[Row]: ...


class Transaction(ABC):
    """The one open write transaction. ``changed`` counts what was written in it.

    ``threads`` and ``uses`` are what it knows of threads and idempotency keys, with its own changes; None where there
    is nothing.
    """

    def __init__(self, position: int, threads: Threads) -> None:
        self.position = position
        self.changed = 0
        self.threads = threads
        self.uses: dict[Address, FirstUse | None] = {}
        self._added: dict[Addition, list[Row]] = {}

    def add(self, addition: Addition, row: Row) -> None:
        """Add a row to a table, together with others: before anything else is run or read, and before the commit."""
        self.changed += 1
        self._added.setdefault(addition, []).append(row)

    async def rows(self, statement: Statement, /, **values: Any) -> list[Row]:
        await self.write_added()
        return await self._rows(statement, values)

    async def run(self, statement: Statement, /, **values: Any) -> int:
        """Run a statement that writes; answer how many rows it touched."""
        await self.write_added()
        self.changed += 1
        return await self._run(statement, values)

    async def write_added(self) -> None:
        while self._added:
            addition = next(iter(self._added))
            await self._add(addition, self._added.pop(addition))

    @abstractmethod
    async def _rows(self, statement: Statement, values: Values) -> list[Row]: ...

    @abstractmethod
    async def _run(self, statement: Statement, values: Values) -> int: ...

    @abstractmethod
    async def _add(self, addition: Addition, rows: Sequence[Row]) -> None: ...

    @abstractmethod
    async def commit(self) -> None: ...

    @abstractmethod
    async def rollback(self) -> None: ...

    @abstractmethod
    def refusal(self, error: Exception) -> RememberdError | None:
        """Our error for one of the driver's that says that a statement was refused for what it is; None for any
        other, which says that the storage cannot be used."""


#: A row that writers of several processes hold, so that they take turns.
LOCK = Statement(select(schema.feed_lock.c.id).where(schema.feed_lock.c.id == 1).with_for_update())

_reached = union_all(
    select(func.max(schema.messages.c.position).label("position")), select(func.max(schema.feed.c.position))
).subquery()
HEAD = Statement(select(func.coalesce(func.max(_reached.c.position), 0)))
_ADD_CHANGE = Addition(schema.feed)


async def learn(
    transaction: Transaction,
    known: dict[Address, T | None],
    wanted: Iterable[Address],
    find: Callable[[Transaction, str, list[str]], Awaitable[dict[str, T]]],
) -> None:
    """Let the transaction know what it wants and does not know yet; one question for each tenant."""
    names: dict[str, list[str]] = {}
    for tenant, name in wanted:
        if (tenant, name) not in known:
            names.setdefault(tenant, []).append(name)
    for tenant, unknown in names.items():
        found = await find(transaction, tenant, unknown)
        known.update({(tenant, name): found.get(name) for name in unknown})


def next_position(transaction: Transaction) -> int:
    """Writers are serial from the first statement to the commit, so positions are in commit order."""
    transaction.position += 1
    return transaction.position


async def announce(transaction: Transaction, tenant: str, noun: Noun, thing: str, operation: Operation) -> int:
    """Append a change to the feed; answers its position. That a message was recorded tells its own row."""
    position = next_position(transaction)
    transaction.add(_ADD_CHANGE, (position, tenant, noun, thing, operation))
    return position
