"""A database of its own on a server that others use too; gone when its user is done."""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from rememberd.errors import StorageUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def scratch_database(url: str) -> AsyncIterator[str]:
    """The URL of a fresh database on the server that ``url`` names. Raises ``StorageUnavailable``."""
    name = f"rememberd_scratch_{secrets.token_hex(6)}"
    engine = create_async_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    try:
        async with engine.connect() as connection:
            await connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"))
    except (SQLAlchemyError, OSError) as error:
        raise StorageUnavailable(
            f"no database can be made on that server ({type(error.__cause__ or error).__name__}); "
            "name a role that may CREATE DATABASE"
        ) from error
    try:
        yield make_url(url).set(database=name).render_as_string(hide_password=False)
    finally:
        async with engine.connect() as connection:
            await connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        await engine.dispose()
