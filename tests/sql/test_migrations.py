"""Migrations: their sum is the schema, they run once, and nobody may change them afterwards."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import apsw
import pytest
from sqlalchemy import Connection, inspect
from sqlalchemy.ext.asyncio import create_async_engine

from rememberd import wiring
from rememberd.backends.sql.migrate import migrations
from rememberd.backends.sql.schema import metadata
from rememberd.backends.sql.sqlite import SqliteExecutor
from rememberd.backends.sql.storage import SqlStorage
from rememberd.errors import DamagedStore
from tests import postgres

if TYPE_CHECKING:
    from pathlib import Path

Shape = dict[str, dict[str, tuple[bool, bool]]]

#: What the schema says: per table and column, whether it may be null and whether it is part of the primary key.
SCHEMA: Shape = {
    table.name: {column.name: (bool(column.nullable), column.primary_key) for column in table.columns}
    for table in metadata.tables.values()
}


async def _migrate_sqlite(path: Path) -> None:
    await (await SqlStorage.open(SqliteExecutor(path))).close()


def test_the_sum_of_the_migrations_is_the_schema_on_sqlite(tmp_path: Path) -> None:
    asyncio.run(_migrate_sqlite(tmp_path / "memory.db"))
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    made: Shape = {}
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
        columns = connection.execute('SELECT name, "notnull", pk FROM pragma_table_info(?)', [table])
        made[table] = {name: (not notnull, bool(pk)) for name, notnull, pk in columns}
    made.pop("migrations")
    assert made == SCHEMA


@pytest.mark.integration
def test_the_sum_of_the_migrations_is_the_schema_on_postgresql() -> None:
    url = postgres.server().fresh_database()

    async def reflect() -> Shape:
        await (await wiring.open_server(url)).engine.close()
        engine = create_async_engine(wiring.server_url(url))
        async with engine.connect() as connection:
            made = await connection.run_sync(_shape)
        await engine.dispose()
        return made

    made = asyncio.run(reflect())
    made.pop("migrations")
    assert made == SCHEMA


def _shape(connection: Connection) -> Shape:
    look = inspect(connection)
    return {
        table: {
            column["name"]: (column["nullable"], column["name"] in look.get_pk_constraint(table)["constrained_columns"])
            for column in look.get_columns(table)
        }
        for table in look.get_table_names()
    }


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in migrations()] == list(range(1, len(migrations()) + 1))


def test_opening_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    asyncio.run(_migrate_sqlite(path))
    asyncio.run(_migrate_sqlite(path))
    assert apsw.Connection(str(path)).execute("SELECT count(*) FROM migrations").get == len(migrations())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE migrations SET checksum = 'other' WHERE number = 1", "another form"),
        ("INSERT INTO migrations VALUES (999, 'future', 'x')", "newer rememberd"),
    ],
)
def test_a_store_that_others_migrated_is_refused(tmp_path: Path, change: str, told: str) -> None:
    path = tmp_path / "memory.db"
    asyncio.run(_migrate_sqlite(path))
    with apsw.Connection(str(path)) as connection:
        connection.execute(change)
    with pytest.raises(DamagedStore, match=told):
        asyncio.run(_migrate_sqlite(path))


@pytest.mark.integration
def test_processes_that_start_together_migrate_once() -> None:
    url = postgres.server().fresh_database()

    async def start() -> None:
        for opened in await asyncio.gather(*(wiring.open_server(url) for _ in range(6))):
            await opened.engine.close()

    asyncio.run(start())
