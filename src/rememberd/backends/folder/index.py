"""The embedded index: words in SQLite's full-text table, vectors beside them, in a file that may be dropped."""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import apsw
import msgspec
import numpy as np

from rememberd.errors import StorageUnavailable
from rememberd.model.query import FILTERED_FIELDS, metadata_text
from rememberd.ports.index import Candidate, Candidates, Document, Gone, Search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE state (watermark INTEGER NOT NULL, documents INTEGER NOT NULL, terms INTEGER NOT NULL);
INSERT INTO state VALUES (0, 0, 0);
CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL, noun TEXT NOT NULL, id TEXT NOT NULL,
    user TEXT, agent TEXT, thread TEXT, kind TEXT NOT NULL, role TEXT, topic TEXT, domain TEXT, source TEXT,
    at REAL NOT NULL, metadata TEXT NOT NULL, length INTEGER NOT NULL, digest BLOB NOT NULL
);
CREATE UNIQUE INDEX documents_id ON documents (tenant, noun, id);
CREATE INDEX documents_user ON documents (tenant, user, at);
CREATE VIRTUAL TABLE words USING fts5(terms, content='', contentless_delete=1, tokenize="ascii", detail=none);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
CREATE TABLE vectors (
    number INTEGER NOT NULL, lane TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (number, lane)
) WITHOUT ROWID;
"""
_FORMAT = 1  # raised when the schema or the terms change: an index of another format is dropped and made again
_COLUMNS = ("user", "agent", "thread", "kind", "role", "topic", "domain", "source")


class FolderIndex:
    """Writes and reads take turns on one connection, in a thread of its own."""

    def __init__(self, path: Path | None) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rememberd-index")
        self._path = path
        self._connection: apsw.Connection | None = None
        self._closed = False

    async def watermark(self) -> int:
        def look(connection: apsw.Connection) -> int:
            return int(connection.execute("SELECT watermark FROM state").get)

        return await self._run(look)

    async def apply(self, changes: Sequence[Document | Gone], upto: int) -> None:
        def apply(connection: apsw.Connection) -> None:
            with connection:
                for change in changes:
                    _drop(connection, change)
                    if isinstance(change, Document):
                        _add(connection, change)
                connection.execute("UPDATE state SET watermark = max(watermark, ?)", [upto])

        await self._run(apply)

    async def search(self, search: Search) -> Candidates:
        return await self._run(lambda connection: _search(connection, search))

    async def clear(self) -> None:
        def clear(connection: apsw.Connection) -> None:
            with connection:
                for table in ("documents", "vectors"):
                    connection.execute(f"DELETE FROM {table}")
                connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
                connection.execute("UPDATE state SET watermark = 0, documents = 0, terms = 0")

        await self._run(clear)

    async def digest(self) -> str:
        def digest(connection: apsw.Connection) -> str:
            whole = hashlib.sha256()
            for (each,) in connection.execute("SELECT digest FROM documents ORDER BY tenant, noun, id"):
                whole.update(each)
            return whole.hexdigest()

        return await self._run(digest)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True

        def close() -> None:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

        await asyncio.get_running_loop().run_in_executor(self._thread, close)
        self._thread.shutdown(wait=True)

    async def _run(self, use: Callable[[apsw.Connection], T]) -> T:
        if self._closed:
            raise StorageUnavailable("the index is closed")

        def run() -> T:
            try:
                if self._connection is None:
                    self._connection = _open(self._path)
                return use(self._connection)
            except apsw.Error as error:
                raise StorageUnavailable(f"the index cannot be used now: {error}; rememberd rebuild") from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)


def _open(path: Path | None) -> apsw.Connection:
    """Open the index; one that is damaged or of another format is dropped: it can be made again."""
    try:
        return _connect(path)
    except (apsw.CorruptError, apsw.NotADBError):
        assert path is not None
        for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            file.unlink(missing_ok=True)
        return _connect(path)


def _connect(path: Path | None) -> apsw.Connection:
    connection = apsw.Connection(":memory:" if path is None else str(path))
    connection.set_busy_timeout(5000)
    connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000")
    found = connection.execute("PRAGMA user_version").get
    if found not in (0, _FORMAT):
        raise apsw.NotADBError(f"an index of format {found}")
    if found == 0:
        with connection:
            connection.execute(_SCHEMA)
            connection.execute(f"PRAGMA user_version={_FORMAT}")
    return connection


def _drop(connection: apsw.Connection, change: Document | Gone) -> None:
    held = connection.execute(
        "SELECT number, length FROM documents WHERE tenant = ? AND noun = ? AND id = ?",
        [change.tenant, change.noun, change.id],
    ).get
    if held is not None:
        number, length = held
        connection.execute("DELETE FROM words WHERE rowid = ?", [number])
        connection.execute("DELETE FROM vectors WHERE number = ?", [number])
        connection.execute("DELETE FROM documents WHERE number = ?", [number])
        connection.execute("UPDATE state SET documents = documents - 1, terms = terms - ?", [length])


def _add(connection: apsw.Connection, document: Document) -> None:
    metadata = {key: text for key, value in document.metadata.items() if (text := metadata_text(value)) is not None}
    connection.execute(
        "INSERT INTO documents (tenant, noun, id, user, agent, thread, kind, role, topic, domain, source, at,"
        " metadata, length, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            document.tenant, document.noun, document.id, *(getattr(document, name) for name in _COLUMNS),
            document.at.timestamp(), msgspec.json.encode(metadata).decode(), len(document.terms), _digest(document),
        ],
    )  # fmt: skip
    number = connection.last_insert_rowid()
    connection.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", [number, " ".join(document.terms)])
    for lane, data in document.vectors.items():
        connection.execute("INSERT INTO vectors VALUES (?, ?, ?)", [number, lane, data])
    connection.execute("UPDATE state SET documents = documents + 1, terms = terms + ?", [len(document.terms)])


def _digest(document: Document) -> bytes:
    fields: dict[str, Any] = {name: getattr(document, name) for name in ("tenant", "noun", "id", "at", *_COLUMNS)}
    fields |= {"terms": document.terms, "metadata": document.metadata}
    fields |= {"vectors": {lane: data.hex() for lane, data in document.vectors.items()}}
    return hashlib.blake2b(msgspec.json.encode(fields, order="deterministic"), digest_size=16).digest()


def _search(connection: apsw.Connection, search: Search) -> Candidates:
    watermark, documents, total = connection.execute("SELECT * FROM state").get
    where, values = _condition(search)
    found: dict[tuple[str, str], int] = {}
    if search.terms:
        glue = " AND " if search.match == "all" else " OR "
        match = glue.join(f'"{term}"' for term in search.terms)
        found |= _addressed(
            connection.execute(
                "SELECT noun, id, number FROM words JOIN documents ON number = words.rowid"
                f" WHERE words MATCH ? AND {where} ORDER BY rank, at DESC, id DESC LIMIT ?",
                [match, *values, search.limit],
            )
        )
    cosines = _cosines(connection, search, where, values)
    if cosines:
        near = sorted(cosines, key=lambda address: -max(cosines[address].values()))
        found |= dict.fromkeys((address for address in near if address not in found), 0)
    elif not search.terms:
        found |= _addressed(
            connection.execute(
                f"SELECT noun, id, number FROM documents WHERE {where} ORDER BY at DESC, id DESC LIMIT ?",
                [*values, search.limit],
            )
        )
    return Candidates(
        found=tuple(
            Candidate(noun, id_, cosines.get((noun, id_), {}))  # type: ignore[arg-type]
            for noun, id_ in list(found)[: search.limit]
        ),
        watermark=watermark,
        documents=documents,
        average_length=total / documents if documents else 0.0,
        frequencies=_frequencies(connection, search.terms),
    )


def _addressed(rows: Iterable[tuple[str, str, int]]) -> dict[tuple[str, str], int]:
    return {(noun, id_): number for noun, id_, number in rows}


def _condition(search: Search) -> tuple[str, list[Any]]:
    """The scope and the filters as a condition; every value is bound, and every name is one of our own."""
    parts, values = ["documents.tenant = ?"], list[Any]([search.scope.tenant])
    if not search.everyone:
        parts += ["(user IS NULL OR user = ?)", "(agent IS NULL OR agent = ?)"]
        values += [search.scope.user, search.scope.agent]
    for name in FILTERED_FIELDS:
        wanted = getattr(search.filters, name)
        if wanted:
            parts.append(f"{name} IN (SELECT value FROM json_each(?))")
            values.append(_listed(wanted))
    for moment, comparison in ((search.filters.after, ">="), (search.filters.before, "<")):
        if moment is not None:
            parts.append(f"at {comparison} ?")
            values.append(moment.timestamp())
    for key, wanted in search.filters.metadata.items():
        parts.append(
            "EXISTS (SELECT 1 FROM json_each(metadata) AS held"
            " WHERE held.key = ? AND held.value IN (SELECT value FROM json_each(?)))"
        )
        values += [key, _listed(wanted)]
    return " AND ".join(parts), values


def _listed(values: Iterable[str]) -> str:
    return msgspec.json.encode(list(values)).decode()


def _cosines(
    connection: apsw.Connection, search: Search, where: str, values: list[Any]
) -> dict[tuple[str, str], dict[str, float]]:
    """The cosine of every document in sight that has a vector in a lane of the search."""
    cosines: dict[tuple[str, str], dict[str, float]] = {}
    for lane, wanted in search.vectors.items():
        rows = list(
            connection.execute(
                f"SELECT noun, id, data FROM documents JOIN vectors USING (number) WHERE lane = ? AND {where}",
                [lane, *values],
            )
        )
        if rows:
            matrix = np.frombuffer(b"".join(data for _, _, data in rows), dtype="<f4").reshape(len(rows), -1)
            nearness = matrix @ np.frombuffer(wanted, dtype="<f4")
            for (noun, id_, _), value in zip(rows, nearness.tolist(), strict=True):
                cosines.setdefault((noun, id_), {})[lane] = value
    return cosines


def _frequencies(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, int]:
    found = {term: connection.execute("SELECT doc FROM vocabulary WHERE term = ?", [term]).get or 0 for term in terms}
    return {term: int(number) for term, number in found.items()}
