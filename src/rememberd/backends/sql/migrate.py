"""Migrations: numbered files, applied once and in order, each remembered with its checksum."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from rememberd import crash
from rememberd.errors import DamagedStore

from .dialect import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .transaction import Row

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_LEDGER = """CREATE TABLE IF NOT EXISTS migrations (
    number {integer} NOT NULL PRIMARY KEY, name {id} NOT NULL, checksum {id} NOT NULL
)"""


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def statements(self, dialect: str) -> list[str]:
        lines = [line for line in self.text.splitlines() if not line.startswith("--")]
        written = _in_dialect("\n".join(lines), dialect)
        return [statement.strip() for statement in written.split(";") if statement.strip()]


def migrations() -> list[Migration]:
    """Every migration, in order."""
    found = []
    for file in resources.files(__package__).joinpath("migrations").iterdir():
        match = _FILE.fullmatch(file.name)
        if match:
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return sorted(found, key=lambda migration: migration.number)


def apply_migrations(dialect: str) -> Callable[[Callable[[str, Sequence[Any]], list[Row]]], None]:
    """A function that brings a database up to date, given a way to execute; run it inside one transaction.

    Raises ``DamagedStore`` if a migration that was applied differs from ours, or the database is newer than we are.
    """

    def apply(execute: Callable[[str, Sequence[Any]], list[Row]]) -> None:
        execute(_in_dialect(_LEDGER, dialect), ())
        applied: dict[int, str] = dict(execute("SELECT number, checksum FROM migrations", ()))
        ours = migrations()
        unknown = set(applied) - {migration.number for migration in ours}
        if unknown:
            raise DamagedStore(f"the store was written by a newer rememberd (migration {max(unknown)}); update it")
        for migration in ours:
            if migration.number in applied:
                if applied[migration.number] != migration.checksum:
                    raise DamagedStore(f"migration {migration.number} was applied in another form")
                continue
            for statement in migration.statements(dialect):
                execute(statement, ())
            crash.point("migration.middle")
            execute(
                "INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)",
                (migration.number, migration.name, migration.checksum),
            )

    return apply


def _in_dialect(text: str, dialect: str) -> str:
    for word, meaning in WORDS[dialect].items():
        text = text.replace(f"{{{word}}}", meaning)
    return text
