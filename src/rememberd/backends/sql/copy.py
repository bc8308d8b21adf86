"""A copy of a SQLite database, made while it is being written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from rememberd.errors import RememberdError, StorageFull
from rememberd.model import Progress

from .sqlite import connect, translate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STEP = 256  # pages


def format_of(database: Path) -> int:
    """The number of the last migration that a database has seen; 0 if there is no database, or nothing in it."""
    if not database.exists():
        return 0
    connection = connect(database, synchronous="FULL", read_only=True)
    try:
        if not connection.table_exists("main", "migrations"):
            return 0
        return int(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").get)
    except apsw.Error as error:
        raise translate(error) from error
    finally:
        connection.close()


def copy_database(source: Path, target: Path) -> Iterator[Progress]:
    """Copy what is committed when it begins, step by step; progress is counted in bytes.

    The whole copy reads one snapshot, so that writers neither wait for it nor make it begin again.
    """
    reading = connect(source, synchronous="FULL", read_only=True)
    try:
        writing = apsw.Connection(str(target))
        try:
            writing.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
            reading.execute("BEGIN; SELECT count(*) FROM sqlite_schema")
            size = reading.pragma("page_size")
            with writing.backup("main", reading, "main") as copying:
                while not copying.done:
                    copying.step(_STEP)
                    yield Progress(size * (copying.page_count - copying.remaining), size * copying.page_count)
        finally:
            writing.close()
    except apsw.Error as error:
        raise _translated(error) from error
    finally:
        reading.close()


def _translated(error: apsw.Error) -> RememberdError:
    """SQLite knows a full disk, but not a full quota or a file that may not grow."""
    if isinstance(error, apsw.FullError) or getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_WRITE:
        return StorageFull("there is no room for a copy of the storage; free some space and try again")
    return translate(error)
