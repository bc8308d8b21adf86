"""No statement of a call reads through a whole tenant or table: what it costs does not grow with the store."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import TYPE_CHECKING

import apsw
import pytest

from rememberd.backends import sql
from rememberd.backends.sql.dialect import Statement
from rememberd.backends.sql.migrate import apply_migrations

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Counting is for the operator, now and then; keys and spaces are few.
_ALLOWED = re.compile(r"_COUNT|api_keys._LIST|vectors._SPACES")


def _statements() -> Iterator[tuple[str, Statement]]:
    for module in pkgutil.iter_modules(sql.__path__):
        for name, value in vars(importlib.import_module(f"{sql.__name__}.{module.name}")).items():
            if isinstance(value, Statement):
                yield f"{module.name}.{name}", value


@pytest.fixture(scope="module")
def database() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    apply_migrations("sqlite")(lambda text, values: list(connection.execute(text, values)))
    return connection


@pytest.mark.parametrize("name", [name for name, _ in _statements() if not _ALLOWED.search(name)])
def test_every_statement_finds_its_rows_by_an_index(name: str, database: apsw.Connection) -> None:
    text, _ = dict(_statements())[name].sqlite
    steps = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {text}", [None] * text.count("?"))]
    assert not [step for step in steps if _reads_through(step)], steps


def _reads_through(step: str) -> bool:
    """Whether a step of a plan goes over a whole table, or over all that a tenant has."""
    scans = step.startswith("SCAN") and not re.match(r"SCAN (json_each|anon_\d|CONSTANT)", step)
    return scans or "(tenant=?)" in step
