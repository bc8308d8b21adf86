"""The composition root: from settings to an engine. The only importer of backends and providers."""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from uuid_utils import uuid7

from rememberd import crash, telemetry
from rememberd.backends.folder.owner import Ownership
from rememberd.engine import LocalEngine
from rememberd.errors import MissingExtra, SettingsError, disk_failure
from rememberd.guard.gatekeeper import Gatekeeper
from rememberd.model import Actor, DrainRule
from rememberd.operate.backup import keep
from rememberd.ports.lanes import Lanes
from rememberd.ports.parts import Parts
from rememberd.settings import Settings, load_settings
from rememberd.work.drain import Drain
from rememberd.work.follow import Followers
from rememberd.work.worker import Worker

from . import embedding
from .recalling import stages

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from rememberd.backends.folder.files import Files
    from rememberd.backends.folder.owner import OwnerCard
    from rememberd.backends.folder.restore import Restored
    from rememberd.client import RemoteEngine
    from rememberd.model import Progress
    from rememberd.ports.backups import Backups
    from rememberd.ports.index import Index
    from rememberd.ports.spool import Spool
    from rememberd.ports.storage import Storage
    from rememberd.ports.surroundings import Clock, Ids
    from rememberd.ports.windows import Windows
    from rememberd.verbs import Engine

#: The actor of a process that opened the store itself.
LOCAL = Actor("local", operator=True)

_WINDOWS_HELD = 10_000
_BACKUPS = "backups"
_PG_DUMP = "a store on PostgreSQL is backed up with PostgreSQL's own tools: pg_dump, and psql to restore"


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    return str(uuid7())


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine, and the ownership of its folder if it has one."""

    engine: LocalEngine
    ownership: Ownership | None = None


def owner_of(folder: Path) -> OwnerCard | None:
    """Who owns a folder, as far as its card tells."""
    from rememberd.backends.folder.owner import owner_of

    return owner_of(folder)


async def open_folder(
    folder: Path | str,
    settings: Settings | None = None,
    *,
    clock: Clock = now,
    ids: Ids = new_id,
    will_serve: bool = False,
    vfs: str | None = None,
) -> Opened:
    """Own a folder and open the store in it. Raises ``FolderInUse`` if another process owns it.

    ``vfs`` names what stands between SQLite and the disk, where a proof has put something there.
    """
    from rememberd.backends.folder.backup import DATABASE, FolderBackups
    from rememberd.backends.folder.files import Files
    from rememberd.backends.folder.index import FolderIndex
    from rememberd.backends.folder.owner import Ownership
    from rememberd.backends.folder.restore import refuse_half_restored
    from rememberd.backends.sql.copy import copy_database, format_of
    from rememberd.backends.sql.migrate import migrations
    from rememberd.backends.sql.sqlite import SqliteExecutor
    from rememberd.backends.sql.storage import SqlStorage

    folder = Path(folder)
    settings = settings or load_settings()
    refuse_half_restored(folder)
    ownership = Ownership.take(folder, will_serve=will_serve)
    try:
        crash.point("open.owned")
        backups = FolderBackups(folder, copy_database, clock)
        if 0 < (old := format_of(folder / DATABASE)) < len(migrations()):
            await _back_up_before_migration(backups, folder, old, clock)
        executor = SqliteExecutor(
            folder / DATABASE,
            synchronous=settings.text("database.synchronous"),
            lock_timeout=settings.number("database.lock_timeout"),
            vfs=vfs,
        )
        storage = await SqlStorage.open(executor)
        index = FolderIndex(folder / "index.db")
        files, elsewhere = Files(), settings.maybe("failure_queue.folder")
        if elsewhere:
            files.make_folders(Path(elsewhere).expanduser())
        spool = await _spool(settings, Path(elsewhere).expanduser() if elsewhere else folder / "spool", files)
    except BaseException:
        ownership.release()
        raise
    kept = Path(settings.maybe("backup.folder") or folder / _BACKUPS)
    engine = await _assemble(storage, spool, index, backups, settings, clock, ids, ownership.release, kept)
    return Opened(engine, ownership)


async def _back_up_before_migration(backups: Backups, folder: Path, old: int, clock: Clock) -> None:
    """One that is there already is whole: the migration after it was interrupted."""
    kept = folder / _BACKUPS
    try:
        kept.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise disk_failure(error, f"{kept}, for the backup before a migration, cannot be made") from error
    file = kept / f"format-{old}-{clock():%Y%m%dT%H%M%S}.zip"
    if not file.exists():
        async for _ in keep(backups.pieces(), file):
            pass
    telemetry.log("backed_up_before_migration", format=old, file=str(file))


def restore_folder(
    file: Path, folder: Path | str, *, replace: bool = False, clock: Clock = now
) -> AsyncGenerator[Progress | Restored, None]:
    """Make a folder what it was when a backup was made; the last answer says where everything is."""
    from rememberd.backends.folder.restore import restore

    return restore(file, Path(folder), clock, replace=replace)


async def open_server(url: str, settings: Settings | None = None, *, clock: Clock = now, ids: Ids = new_id) -> Opened:
    """Open the store on a database server; its index is kept in this process and follows the server's feed."""
    from rememberd.backends.folder.berth import Berth
    from rememberd.backends.folder.index import FolderIndex
    from rememberd.backends.reference.backups import NoBackups

    _require("asyncpg", "postgres", "storage on PostgreSQL")
    from rememberd.backends.sql.server import ServerExecutor
    from rememberd.backends.sql.storage import SqlStorage

    settings = settings or load_settings()
    if settings.policy.backup.every:
        raise SettingsError(f"backup.every is for folders: {_PG_DUMP}")
    executor = ServerExecutor(
        server_url(url),
        pool_size=settings.integer("database.pool_size"),
        max_overflow=settings.integer("database.max_overflow"),
        timeout=settings.number("database.timeout"),
    )
    storage = await SqlStorage.open(executor)
    backups = NoBackups(_PG_DUMP)
    try:
        berth = Berth(_spool_beside(url, settings))
        spool = await _spool(settings, berth.folder, berth)
    except BaseException:
        await storage.close()
        raise
    return Opened(await _assemble(storage, spool, FolderIndex(None), backups, settings, clock, ids, berth.leave))


def open_remote(url: str, api_key: str | None = None) -> RemoteEngine:
    """The engine of a running rememberd."""
    from rememberd.client import RemoteEngine

    return RemoteEngine(url, api_key)


def share(engine: Engine, open_again: Callable[[], Awaitable[Engine]]) -> Engine:
    """The engine of a folder's owner, which outlives that owner: ``open_again`` finds the next one."""
    from rememberd.client.shared import SharedEngine

    return SharedEngine(engine, open_again)


async def open_reference(settings: Settings | None = None, *, clock: Clock = now, ids: Ids = new_id) -> Opened:
    """Open a store that lives in this process and is gone with it."""
    from rememberd.backends.reference.backups import NoBackups
    from rememberd.backends.reference.place import ReferencePlace

    place = ReferencePlace()
    storage, spool, index = await place.open_storage(), await place.open_spool(), await place.open_index()
    backups = NoBackups("a store that lives in this process is not backed up; keep it in a folder")
    return Opened(await _assemble(storage, spool, index, backups, settings or load_settings(), clock, ids))


def scratch_database(url: str) -> AbstractAsyncContextManager[str]:
    """A fresh database on the server that ``url`` names, as a URL, which is removed afterwards."""
    _require("asyncpg", "postgres", "storage on PostgreSQL")
    from rememberd.backends.sql.scratch import scratch_database

    return scratch_database(server_url(url))


def is_server(url: str) -> bool:
    """Whether a URL names a database server."""
    return url.partition("://")[0].partition("+")[0] in ("postgresql", "postgres")


def server_url(url: str) -> str:
    """The URL with the driver that we use."""
    if not is_server(url):
        raise SettingsError(f"{url.partition('://')[0]}:// is no storage; use a folder or postgresql://…")
    return f"postgresql+asyncpg://{url.partition('://')[2]}"


async def _assemble(
    storage: Storage,
    spool: Spool,
    index: Index,
    backups: Backups,
    settings: Settings,
    clock: Clock,
    ids: Ids,
    let_go: Callable[[], None] | None = None,
    backup_folder: Path | None = None,
) -> LocalEngine:
    from rememberd.flow.recall import Recall
    from rememberd.flow.spool import Spooler
    from rememberd.providers.repeated import Repeated

    embedders, missing = embedding.embedders(settings)
    lanes = Lanes(storage, [Repeated(embedder) for embedder in embedders], partial(embedding.revive, settings))
    await lanes.open()
    count_tokens, prepare = embedding.counter(settings)
    followers, worker = Followers(), Worker(settings.integer("jobs.at_once"))
    spooler = Spooler(spool)
    await spooler.load()
    recall = Recall(
        storage=storage,
        index=index,
        lanes=lanes,
        waiting=spooler,
        prepare=prepare,
        stages=stages(settings),
    )
    parts = Parts(
        storage=storage,
        spool=spool,
        windows=_windows(storage),
        index=index,
        backups=backups,
        recall=recall,
        lanes=lanes,
        clock=clock,
        ids=ids,
        policy=settings.policy,
        backup_folder=backup_folder,
        nudge=followers.nudge,
        count_tokens=count_tokens,
        missing=missing,
        settings=settings.described(),
    )
    followers.start(parts)
    drain = Drain(parts, spooler, _drain_rule(settings))
    drain.start()
    worker.start(parts)
    telemetry.log("opened", storage=storage.description, missing=[*parts.degraded, *lanes.missing()])

    async def close() -> None:
        try:
            await worker.stop()
            await drain.stop()
            await followers.stop()
            crash.point("close.middle")
            await lanes.close()
            await index.close()
            await storage.close()
            await spool.close()
        finally:
            if let_go is not None:
                let_go()

    return LocalEngine(parts, spooler, LOCAL, Gatekeeper(storage.api_keys, settings.maybe("server.api_key")), close)


async def _spool(settings: Settings, folder: Path, files: Files) -> Spool:
    from rememberd.backends.folder.spool import FolderSpool

    return await FolderSpool.open(
        folder,
        files=files,
        file_bytes=settings.integer("failure_queue.file_bytes"),
        max_bytes=settings.integer("failure_queue.max_bytes"),
        memory_limit=settings.integer("failure_queue.memory_limit"),
    )


def _spool_beside(url: str, settings: Settings) -> Path:
    """The folder of the processes that use a database server from here: a folder per database."""
    place = settings.maybe("failure_queue.folder") or f"{settings.text('data.folder')}/spool"
    database = hashlib.blake2b(url.rpartition("@")[2].encode(), digest_size=6).hexdigest()
    return Path(place).expanduser() / database


def _drain_rule(settings: Settings) -> DrainRule:
    return DrainRule(
        batch_size=max(1, settings.integer("failure_queue.batch_size")),
        max_attempts=max(1, settings.integer("failure_queue.max_attempts")),
        first_pause=settings.number("failure_queue.first_pause"),
        longest_pause=settings.number("failure_queue.longest_pause"),
    )


def _windows(storage: Storage) -> Windows:
    from rememberd.backends.reference.windows import ReferenceWindows

    return ReferenceWindows(_WINDOWS_HELD if storage.exclusive else 0)


def _require(module: str, extra: str, needed_for: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(extra, needed_for) from error
