"""The shelves of an index: in memory, and as blocks in its file."""

from __future__ import annotations

import functools
import os
from collections import OrderedDict
from typing import TYPE_CHECKING, cast

from .block import Block
from .merge import lasting, merged
from .shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

_SHELVES = 1000  # in memory at most; those used longest ago are let go
_ON_A_GIGABYTE = 250_000  # documents at most, for each of the machine's memory: a quarter of it
_SIZES = (8 << 10, 128 << 10)  # bytes; of some blocks in a row that are all smaller, one is made
_TOGETHER = 16
_WASTE = 1000  # beyond as much as is held


class Shelves:
    """The shelves in memory, by tenant, the one used last at the end."""

    def __init__(self) -> None:
        self._shelves: OrderedDict[str, Shelf] = OrderedDict()

    def get(self, connection: apsw.Connection, tenant: str) -> Shelf:
        """A shelf, read from the file if it is not in memory."""
        shelf = self._shelves.get(tenant)
        if shelf is None or shelf.waste > len(shelf) + _WASTE:
            if shelf is not None:
                _tidy(connection, tenant)
            shelf = self._shelves[tenant] = read_shelf(connection, tenant)
            self._make_room(tenant)
        self._shelves.move_to_end(tenant)
        shelf.pack()
        return shelf

    def add(self, connection: apsw.Connection, tenant: str, block: Block) -> None:
        """Write a block, and put it on the shelf if that is in memory, or new."""
        if tenant not in self._shelves and not _newest(connection, tenant, 1):
            self._shelves[tenant] = Shelf()
            self._make_room(tenant)
        if tenant in self._shelves:
            self._shelves[tenant].add(block)
        _put(connection, None, tenant, block)
        _merge_small(connection, tenant)

    def clear(self) -> None:
        self._shelves.clear()

    def _make_room(self, newest: str) -> None:
        held = sum(map(len, self._shelves.values()))
        for tenant in list(self._shelves):
            if tenant == newest or (held <= _documents_at_most() and len(self._shelves) <= _SHELVES):
                return
            held -= len(self._shelves.pop(tenant))


@functools.cache
def _documents_at_most() -> int:
    """How many documents there is room for in memory; where nobody tells how large that is, as in a small machine."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        memory = 2 << 30
    return _ON_A_GIGABYTE * memory >> 30


def tenants(connection: apsw.Connection) -> list[str]:
    """Everyone of whom anything is held, in order."""
    rows = connection.execute("SELECT DISTINCT tenant FROM blocks ORDER BY tenant")
    return [cast("str", tenant) for (tenant,) in rows]


def read_shelf(connection: apsw.Connection, tenant: str) -> Shelf:
    """A shelf as the file has it."""
    shelf = Shelf()
    for block in _blocks(connection, tenant):
        shelf.add(block)
    shelf.pack()
    return shelf


def _blocks(connection: apsw.Connection, tenant: str, after: int = 0) -> Iterator[Block]:
    """The blocks of a tenant in their order, from behind a number on."""
    rows = connection.execute(
        "SELECT data FROM blocks WHERE tenant = ? AND number > ? ORDER BY number", [tenant, after]
    )
    for (data,) in rows:
        yield Block.decoded(cast("bytes", data))


def _newest(connection: apsw.Connection, tenant: str, limit: int) -> list[tuple[int, int]]:
    """The numbers and sizes of a tenant's last blocks, the last first."""
    rows = connection.execute(
        "SELECT number, size FROM blocks WHERE tenant = ? ORDER BY number DESC LIMIT ?", [tenant, limit]
    )
    return cast("list[tuple[int, int]]", rows.fetchall())


def _merge_small(connection: apsw.Connection, tenant: str) -> None:
    """Make one block of small ones, so that a shelf is read in few pieces however it came."""
    newest = _newest(connection, tenant, _TOGETHER)
    for most in _SIZES:
        if len(newest) == _TOGETHER and all(size < most for _, size in newest):
            last, first = newest[0][0], newest[-1][0]
            block = merged([*_blocks(connection, tenant, first - 1)])
            connection.execute("DELETE FROM blocks WHERE tenant = ? AND number BETWEEN ? AND ?", [tenant, first, last])
            _put(connection, last, tenant, block)
            newest = _newest(connection, tenant, _TOGETHER)


def _tidy(connection: apsw.Connection, tenant: str) -> None:
    """Take out of a tenant's blocks what later ones made void."""
    rows = connection.execute("SELECT number FROM blocks WHERE tenant = ? ORDER BY number", [tenant])
    numbers = [cast("int", number) for (number,) in rows]
    with connection:
        for number, block in zip(numbers, lasting([*_blocks(connection, tenant)]), strict=True):
            connection.execute("DELETE FROM blocks WHERE number = ?", [number])
            if len(block):
                _put(connection, number, tenant, block)


def _put(connection: apsw.Connection, number: int | None, tenant: str, block: Block) -> None:
    """A block in its place; without a number, behind all others."""
    data = block.encoded()
    connection.execute(
        "INSERT INTO blocks (number, tenant, size, data) VALUES (?, ?, ?, ?)", [number, tenant, len(data), data]
    )
