"""What differs between the SQL dialects: words of the migrations, lists of strings, a statement's text."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, ColumnElement, Text, bindparam
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Executable, Table
    from sqlalchemy.sql.compiler import SQLCompiler

#: What the words of the migration files mean in each dialect.
WORDS: dict[str, dict[str, str]] = {
    "sqlite": {
        "id": "TEXT",
        "text": "TEXT",
        "integer": "INTEGER",
        "real": "REAL",
        "blob": "BLOB",
        "clustered": "WITHOUT ROWID",
    },
    "postgresql": {
        "id": "VARCHAR(255)",
        "text": "TEXT",
        "integer": "BIGINT",
        "real": "DOUBLE PRECISION",
        "blob": "BYTEA",
        "clustered": "",
    },
}


class _Strings(FunctionElement[str]):
    """The strings of a JSON array, as a subquery: one bound value, whatever the length of the list."""

    name = "strings"
    inherit_cache = True
    type = Text()


@compiles(_Strings, "sqlite")
def _strings_sqlite(element: _Strings, compiler: SQLCompiler, **options: Any) -> str:
    return f"(SELECT value FROM json_each({compiler.process(element.clauses, **options)}))"  # noqa: S608 - a bound value


@compiles(_Strings, "postgresql")
def _strings_postgresql(element: _Strings, compiler: SQLCompiler, **options: Any) -> str:
    return f"(SELECT json_array_elements_text(CAST({compiler.process(element.clauses, **options)} AS json)))"


def in_list(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """``column IN`` the strings of the JSON array bound to ``name``."""
    return column.bool_op("IN")(_Strings(bindparam(name, type_=Text)))


def integer(name: str) -> ColumnElement[int]:
    """A bound integer."""
    return bindparam(name, type_=BigInteger)


class Statement:
    """A statement, defined once, run by every executor."""

    def __init__(self, element: Executable) -> None:
        self.element = element

    @functools.cached_property
    def sqlite(self) -> tuple[str, Callable[[Mapping[str, Any]], Sequence[Any]]]:
        """Its text for SQLite, and how named values become its parameters."""
        compiled = self.element.compile(dialect=sqlite.dialect(paramstyle="qmark"))  # type: ignore[attr-defined]
        constants = {name: value for name, value in compiled.params.items() if value is not None}
        return str(compiled), _binder(tuple(compiled.positiontup or ()), constants)


class Addition(Statement):
    """Adds rows to a table, each with a value for every column, in their order.

    ``replacing`` lets a row stand where one of the same key stood; SQLite and PostgreSQL say that alike.
    """

    def __init__(self, table: Table, *, replacing: bool = False) -> None:
        row = postgresql.insert(table)
        if replacing:
            others = {column.key: row.excluded[column.key] for column in table.c if not column.primary_key}
            row = row.on_conflict_do_update(index_elements=[*table.primary_key], set_=others)
        super().__init__(row)
        self.columns = table.c.keys()


def _binder(names: tuple[str, ...], constants: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    if constants:
        return lambda values: [values[name] if name in values else constants[name] for name in names]
    if len(names) > 1:
        return operator.itemgetter(*names)
    return lambda values: [values[name] for name in names]
