"""The embedded index: one row per document in a file that may be dropped, and shelves of them in memory.

A shelf is read when it is first searched, so opening reads nothing; the file's watermark survives a crash.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import apsw
import msgspec
import numpy as np

from rememberd.errors import StorageUnavailable
from rememberd.model import Filters
from rememberd.ports.index import NEIGHBOURED, Candidate, Candidates, Document, Gone, Search

from .shelf import Held, Shelf, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

T = TypeVar("T")

_FORMAT = 5  # raised when the schema or the terms change: an index of another format is dropped and made again
_SCHEMA = """
CREATE TABLE state (watermark INTEGER NOT NULL);
INSERT INTO state VALUES (0);
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, tenant TEXT NOT NULL, user TEXT, noun TEXT NOT NULL, id TEXT NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX documents_id ON documents (tenant, noun, id);
CREATE INDEX documents_user ON documents (tenant, user);
"""
_HELD_AT_MOST = 400_000  # documents in memory; the shelves used longest ago are let go
_NO_FILTERS = Filters()
_EVERYONE = "\0"  # no user has this name

_encode = msgspec.msgpack.Encoder(order="deterministic").encode
_decode = msgspec.msgpack.Decoder(Held).decode

Address: TypeAlias = tuple[str, str | None]


class FolderIndex:
    """Writes and reads take turns on one connection, in a thread of its own."""

    def __init__(self, path: Path | None) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rememberd-index")
        self._path = path
        self._connection: apsw.Connection | None = None
        self._shelves = Shelves()
        self._closed = False

    async def watermark(self) -> int:
        return await self._run(_watermark)

    async def apply(self, changes: Sequence[Document | Gone], upto: int) -> None:
        def apply(connection: apsw.Connection) -> None:
            try:
                with connection:
                    for change in changes:
                        self._shelves.remove(*_drop(connection, change))
                        if isinstance(change, Document):
                            held = Held.of(change)
                            self._shelves.add(change.tenant, _add(connection, change, held), held)
                    connection.execute("UPDATE state SET watermark = max(watermark, ?)", [upto])
            except apsw.Error:
                self._shelves.clear()
                raise

        await self._run(apply)

    async def search(self, search: Search) -> Candidates:
        return await self._run(lambda connection: self._search(connection, search))

    async def clear(self) -> None:
        def clear(connection: apsw.Connection) -> None:
            self._shelves.clear()
            with connection:
                connection.execute("DELETE FROM documents; UPDATE state SET watermark = 0")

        await self._run(clear)

    async def digest(self) -> str:
        def digest(connection: apsw.Connection) -> str:
            whole = hashlib.sha256()
            for tenant, data in connection.execute("SELECT tenant, data FROM documents ORDER BY tenant, noun, id"):
                whole.update(tenant.encode() + b"\0" + data)
            return whole.hexdigest()

        return await self._run(digest)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True

        def close() -> None:
            if self._connection is not None:
                self._connection.close()

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

    def _search(self, connection: apsw.Connection, search: Search) -> Candidates:
        owners = {_EVERYONE} if search.everyone else {None, search.scope.user}
        shelves = [self._shelves.get(connection, (search.scope.tenant, owner)) for owner in owners]
        views = [View(shelf, search) for shelf in shelves if len(shelf)]
        documents = sum(view.documents for view in views)
        average = sum(view.terms for view in views) / documents if documents else 0.0
        frequencies = {term: sum(view.frequency(term) for view in views) for term in search.terms}
        proposed: list[tuple[float, View, int]] = []
        near: list[tuple[float, View, int]] = []
        for view in views:
            proposed += view.by_words(frequencies, documents, average)
            near += view.by_vectors()
        if not search.terms and not search.vectors:
            proposed = [each for view in views for each in view.latest()]
        chosen = _with_neighbours(_in_turns(proposed, near, search.limit), search.reach)
        for view in views:
            view.count([row for owner, row in chosen if owner is view])
        return Candidates(
            found=tuple(view.candidate(row) for view, row in chosen),
            watermark=_watermark(connection),
            documents=documents,
            average_length=average,
            frequencies=frequencies,
            background=_background(views, search),
        )


class Shelves:
    """The shelves in memory, the one used last at the end."""

    def __init__(self) -> None:
        self._shelves: OrderedDict[Address, Shelf] = OrderedDict()

    def get(self, connection: apsw.Connection, address: Address) -> Shelf:
        """A shelf, read from the file if it is not in memory, and packed."""
        shelf = self._shelves.get(address)
        if shelf is None:
            shelf = self._shelves[address] = Shelf()
            for number, data in connection.execute(*_documents_of(address)):
                shelf.add(number, _decode(data))
            self._make_room(address)
        elif shelf.gone > len(shelf) + 100:
            del self._shelves[address]
            return self.get(connection, address)
        self._shelves.move_to_end(address)
        shelf.pack()
        return shelf

    def add(self, tenant: str, number: int, held: Held) -> None:
        for owner in (held.user, _EVERYONE):
            shelf = self._shelves.get((tenant, owner))
            if shelf is not None:
                shelf.add(number, held)

    def remove(self, tenant: str, owner: str | None, number: int | None) -> None:
        if number is None:
            return
        for address in ((tenant, owner), (tenant, _EVERYONE)):
            shelf = self._shelves.get(address)
            if shelf is not None:
                shelf.remove(number)

    def clear(self) -> None:
        self._shelves.clear()

    def _make_room(self, newest: Address) -> None:
        held = sum(map(len, self._shelves.values()))
        for address in list(self._shelves):
            if held <= _HELD_AT_MOST or address == newest:
                return
            held -= len(self._shelves.pop(address))


class View:
    """A shelf as one search sees it."""

    def __init__(self, shelf: Shelf, search: Search) -> None:
        self.shelf = shelf
        self._search = search
        self._sight = shelf.in_sight(search.scope.agent, everyone=search.everyone)
        plain = search.filters == _NO_FILTERS
        self._admitted = self._sight if plain else shelf.admitted(self._sight, search.filters)
        self.documents = int(self._sight.sum())
        self.terms = float(shelf.lengths[self._sight].sum())
        found = {term: shelf.postings(term) for term in search.terms}
        self._postings = {
            term: (rows[seen], counts[seen]) for term, (rows, counts) in found.items() for seen in [self._sight[rows]]
        }
        self._cosines: dict[str, dict[int, float]] = {}
        self._counts: dict[int, tuple[int, ...]] = {}
        self.compared: dict[str, tuple[int, float]] = {}

    def frequency(self, term: str) -> int:
        return len(self._postings[term][0])

    def by_words(self, frequencies: dict[str, int], documents: int, average: float) -> list[tuple[float, View, int]]:
        """The rows that match by words, the best first, up to the limit."""
        wanted = dict.fromkeys(self._search.terms)
        if not wanted:
            return []
        scores = words(self.shelf, {term: self._postings[term] for term in wanted}, frequencies, documents, average)
        matching = self._admitted & (scores > 0)
        if self._search.match == "all":
            held = np.zeros(len(scores), np.int32)
            for term in wanted:
                held[self._postings[term][0]] += 1
            matching &= held == len(wanted)
        return self._best(np.flatnonzero(matching), scores)

    def by_vectors(self) -> list[tuple[float, View, int]]:
        """The rows that have a vector to compare, the nearest first, up to the limit."""
        nearest = np.full(len(self.shelf.documents), -2.0, np.float32)
        for lane, vector in self._search.vectors.items():
            rows, cosines = self.shelf.cosines(lane, vector)
            in_sight = cosines[self._sight[rows]]
            self.compared[lane] = (len(in_sight), float(in_sight.sum()))
            seen = self._admitted[rows]
            self._cosines[lane] = dict(zip(rows[seen].tolist(), cosines[seen].tolist(), strict=True))
            nearest[rows[seen]] = np.maximum(nearest[rows[seen]], cosines[seen])
        return self._best(np.flatnonzero(nearest > -2.0), nearest)

    def neighbours(self, row: int, reach: int) -> list[int]:
        return [near for near in self.shelf.neighbours(row, reach) if self._admitted[near]]

    def latest(self) -> list[tuple[float, View, int]]:
        rows = np.flatnonzero(self._admitted)
        seconds = np.fromiter((self._held(row).seconds for row in rows.tolist()), np.float64, len(rows))
        order = np.argsort(-seconds, kind="stable")[: self._search.limit]
        return [(float(seconds[i]), self, int(rows[i])) for i in order]

    def count(self, chosen: list[int]) -> None:
        """Look up how often each term stands in the chosen rows."""
        columns = []
        for term in self._search.terms:
            rows, counts = self._postings[term]
            column = np.zeros(len(self.shelf.documents), np.uint16)
            column[rows] = counts
            columns.append(column[chosen].tolist())
        self._counts = dict(zip(chosen, zip(*columns, strict=True), strict=True)) if columns else {}

    def candidate(self, row: int) -> Candidate:
        held = self._held(row)
        near = {lane: cosines[row] for lane, cosines in self._cosines.items() if row in cosines}
        return Candidate(
            held.noun, held.id, self._counts.get(row, ()), held.length, near, held.kind, held.role, held.name,
            held.thread, held.seq, held.seconds,
        )  # fmt: skip

    def _best(self, rows: NDArray[np.intp], scores: NDArray[np.float32]) -> list[tuple[float, View, int]]:
        if len(rows) > self._search.limit:
            rows = rows[np.argpartition(-scores[rows], self._search.limit)[: self._search.limit]]
        order = np.argsort(-scores[rows], kind="stable")
        return [(float(scores[row]), self, int(row)) for row in rows[order]]

    def _held(self, row: int) -> Held:
        held = self.shelf.documents[row]
        assert held is not None
        return held


def _in_turns(
    proposed: list[tuple[float, View, int]], near: list[tuple[float, View, int]], limit: int
) -> list[tuple[View, int]]:
    """One by words, one by vectors, and so on, each row once."""
    for ranking in (proposed, near):
        ranking.sort(key=lambda each: -each[0])
    chosen: dict[tuple[int, int], tuple[View, int]] = {}
    for pair in zip_longest(proposed, near):
        for each in pair:
            if each is not None and len(chosen) < limit:
                chosen.setdefault((id(each[1]), each[2]), (each[1], each[2]))
    return list(chosen.values())


def _with_neighbours(chosen: list[tuple[View, int]], reach: int) -> list[tuple[View, int]]:
    """What was proposed, and besides it the neighbours of the best."""
    held = {(id(view), row) for view, row in chosen}
    besides: list[tuple[View, int]] = []
    for view, row in chosen[:NEIGHBOURED]:
        for near in view.neighbours(row, reach) if reach else ():
            if (id(view), near) not in held:
                held.add((id(view), near))
                besides.append((view, near))
    return chosen + besides


def _background(views: list[View], search: Search) -> dict[str, float]:
    """The mean cosine of all that is in sight, per lane."""
    means = {}
    for lane in search.vectors:
        compared = [view.compared.get(lane, (0, 0.0)) for view in views]
        number = sum(count for count, _ in compared)
        if number:
            means[lane] = sum(total for _, total in compared) / number
    return means


def _watermark(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT watermark FROM state").get)


def _documents_of(address: Address) -> tuple[str, list[str | None]]:
    tenant, owner = address
    if owner == _EVERYONE:
        return "SELECT number, data FROM documents WHERE tenant = ? ORDER BY number", [tenant]
    return "SELECT number, data FROM documents WHERE tenant = ? AND user IS ? ORDER BY number", [tenant, owner]


def _drop(connection: apsw.Connection, change: Document | Gone) -> tuple[str, str | None, int | None]:
    """Delete what is held of a thing; answers the shelf and number it had, if any."""
    found = connection.execute(
        "DELETE FROM documents WHERE tenant = ? AND noun = ? AND id = ? RETURNING user, number",
        [change.tenant, change.noun, change.id],
    ).get
    owner, number = found if found is not None else (None, None)
    return change.tenant, owner, number


def _add(connection: apsw.Connection, document: Document, held: Held) -> int:
    connection.execute(
        "INSERT INTO documents (tenant, user, noun, id, data) VALUES (?, ?, ?, ?, ?)",
        [document.tenant, document.user, document.noun, document.id, _encode(held)],
    )
    return connection.last_insert_rowid()


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
        connection.close()
        raise apsw.NotADBError(f"an index of format {found}")
    if found == 0:
        with connection:
            connection.execute(_SCHEMA)
            connection.execute(f"PRAGMA user_version={_FORMAT}")
    return connection
