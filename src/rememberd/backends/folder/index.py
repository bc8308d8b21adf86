"""The embedded index: one row per document in a file that may be dropped, and shelves of them in memory.

A shelf is read when it is first searched, so opening reads nothing; the file's watermark survives a crash.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import apsw
import msgspec

from rememberd import crash
from rememberd.errors import Conflict, StorageUnavailable, disk_failure
from rememberd.ports.candidates import Candidates
from rememberd.ports.index import Document, Gone, Search

from .document import Held, held
from .propose import propose
from .shelf import Shelf
from .view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rememberd.model.change import Noun
    from rememberd.ports.index import Index


T = TypeVar("T")

#: Raised when the schema, the terms or the codes of vectors change: an index of another format is made again.
_FORMAT = 7
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
_EVERYONE = "\0"  # no user has this name

_encode = msgspec.msgpack.Encoder(order="deterministic").encode
_json = msgspec.json.Encoder().encode
_decode = msgspec.msgpack.Decoder(Held).decode

Address: TypeAlias = tuple[str, str | None]
Dropped: TypeAlias = tuple[str, str | None, int]


class FolderIndex:
    """Writes and reads take turns on one connection, in a thread of its own."""

    def __init__(self, path: Path | None) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rememberd-index")
        self._path = path
        self._connection: apsw.Connection | None = None
        self._shelves = Shelves()
        self._successor: FolderIndex | None = None
        self._closed = False

    async def watermark(self) -> int:
        return await self._run(_watermark)

    async def apply(self, changes: Sequence[Document | Gone], upto: int) -> None:
        latest = {(change.tenant, change.noun, change.id): change for change in changes}

        def apply(connection: apsw.Connection) -> None:
            documents = [each for each in latest.values() if isinstance(each, Document)]
            try:
                with connection:
                    for gone in _drop(connection, latest):
                        self._shelves.remove(*gone)
                    for tenant, number, each in _add(connection, documents):
                        self._shelves.add(tenant, number, each)
                    crash.point("index.middle")
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

    async def successor(self) -> FolderIndex:
        if self._successor is not None and not self._successor._closed:
            raise Conflict("the index is being made again already")
        self._successor = FolderIndex(None if self._path is None else self._path.with_name(f"next-{self._path.name}"))
        return self._successor

    async def give_way(self, successor: Index) -> bool:
        assert isinstance(successor, FolderIndex)
        reached = await successor.watermark()

        def give_way(connection: apsw.Connection) -> bool:
            if reached < _watermark(connection):
                return False
            self._connection = None
            connection.close()
            self._connection = successor._hand_over(self._path)
            self._shelves.clear()
            return True

        if not await self._run(give_way):
            return False
        await successor.close()
        return True

    def _hand_over(self, path: Path | None) -> apsw.Connection | None:
        """What was in memory as it is; a file takes its new name, and is opened again when it is needed."""
        connection, self._connection = self._connection, None
        if self._path is None or path is None:
            return connection
        assert connection is not None
        if connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE) != (0, 0):
            raise StorageUnavailable(f"somebody else has {self._path} open; end that, and rebuild again")
        connection.close()
        try:
            for log in _logs(path):  # of the old file, if somebody else had it open
                log.unlink(missing_ok=True)
            self._path.replace(path)
        except OSError as error:
            raise disk_failure(error, f"{path} cannot be replaced") from error
        return None

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
        watermark = _watermark(connection)
        return propose(views, search, watermark) if views else Candidates.none(search, watermark)


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

    def remove(self, tenant: str, owner: str | None, number: int) -> None:
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


def _watermark(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT watermark FROM state").get)


def _documents_of(address: Address) -> tuple[str, list[str | None]]:
    tenant, owner = address
    if owner == _EVERYONE:
        return "SELECT number, data FROM documents WHERE tenant = ? ORDER BY number", [tenant]
    return "SELECT number, data FROM documents WHERE tenant = ? AND user IS ? ORDER BY number", [tenant, owner]


def _drop(connection: apsw.Connection, addresses: Iterable[tuple[str, Noun, str]]) -> list[Dropped]:
    """Delete what is held of things; answers the tenant, user and number of each that was held."""
    return list(
        connection.execute(
            """DELETE FROM documents WHERE (tenant, noun, id) IN (
                SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)
            ) RETURNING tenant, user, number""",
            [_json(list(addresses)).decode()],
        )
    )


def _add(connection: apsw.Connection, documents: Sequence[Document]) -> Iterator[tuple[str, int, Held]]:
    """Add documents that are not held; answers the tenant and number of each."""
    first = int(connection.execute("SELECT coalesce(max(number), 0) + 1 FROM documents").get)
    numbered = list(zip(range(first, first + len(documents)), documents, held(documents), strict=True))
    connection.executemany(
        "INSERT INTO documents (number, tenant, user, noun, id, data) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (number, document.tenant, document.user, document.noun, document.id, _encode(each))
            for number, document, each in numbered
        ],
    )
    for number, document, each in numbered:
        yield document.tenant, number, each


def _open(path: Path | None) -> apsw.Connection:
    """Open the index; one that is damaged or of another format is dropped: it can be made again."""
    try:
        return _connect(path)
    except (apsw.CorruptError, apsw.NotADBError):
        assert path is not None
        for file in (path, *_logs(path)):
            file.unlink(missing_ok=True)
        return _connect(path)


def _logs(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def _connect(path: Path | None) -> apsw.Connection:
    connection = apsw.Connection(":memory:" if path is None else str(path))
    connection.set_busy_timeout(5000)
    connection.execute("PRAGMA journal_mode=WAL").fetchall()  # apsw goes on to a next statement only when read
    connection.execute("PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000")
    found = connection.execute("PRAGMA user_version").get
    if found not in (0, _FORMAT):
        connection.close()
        raise apsw.NotADBError(f"an index of format {found}")
    if found == 0:
        with connection:
            connection.execute(_SCHEMA)
            connection.execute(f"PRAGMA user_version={_FORMAT}")
    return connection
