"""The composition root: from settings to an engine. The only importer of backends and providers."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from uuid_utils import uuid7

from . import telemetry
from .backends.folder.owner import Ownership
from .engine import LocalEngine
from .errors import MissingExtra, ModelUnavailable, SettingsError, disk_failure
from .guard.gatekeeper import Gatekeeper
from .language.tokens import estimate
from .model import Actor
from .operate.backup import keep
from .ports.parts import Parts
from .settings import Settings, load_settings
from .work.follow import Followers
from .work.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from .backends.folder.owner import OwnerCard
    from .backends.folder.restore import Restored
    from .client import RemoteEngine
    from .engine import Engine
    from .language.tokens import Counter
    from .model import Progress
    from .ports.backups import Backups
    from .ports.index import Index
    from .ports.models import Embedder
    from .ports.storage import Storage
    from .ports.surroundings import Clock, Ids
    from .ports.windows import Windows
    from .providers.pull import Models

#: The actor of a process that opened the store itself.
LOCAL = Actor("local", operator=True)

_WINDOWS_HELD = 10_000
_BACKUPS = "backups"
_PG_DUMP = "a store on PostgreSQL is backed up with PostgreSQL's own tools: pg_dump, and psql to restore"
_SO = "so recall goes by words alone"


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
    from .backends.folder.owner import owner_of

    return owner_of(folder)


async def open_folder(
    folder: Path | str,
    settings: Settings | None = None,
    *,
    clock: Clock = now,
    ids: Ids = new_id,
    will_serve: bool = False,
) -> Opened:
    """Own a folder and open the store in it. Raises ``FolderInUse`` if another process owns it."""
    from .backends.folder.backup import DATABASE, FolderBackups
    from .backends.folder.index import FolderIndex
    from .backends.folder.owner import Ownership
    from .backends.folder.restore import refuse_half_restored
    from .backends.sql.copy import copy_database, format_of
    from .backends.sql.migrate import migrations
    from .backends.sql.sqlite import SqliteExecutor
    from .backends.sql.storage import SqlStorage

    folder = Path(folder)
    settings = settings or load_settings()
    refuse_half_restored(folder)
    ownership = Ownership.take(folder, will_serve=will_serve)
    try:
        backups = FolderBackups(folder, copy_database, clock)
        if 0 < (old := format_of(folder / DATABASE)) < len(migrations()):
            await _back_up_before_migration(backups, folder, old, clock)
        executor = SqliteExecutor(folder / DATABASE, synchronous=settings.text("database.synchronous"))
        storage = await SqlStorage.open(executor)
        index = FolderIndex(folder / "index.db")
    except BaseException:
        ownership.release()
        raise
    kept = Path(settings.maybe("backup.folder") or folder / _BACKUPS)
    engine = await _assemble(storage, index, backups, settings, clock, ids, ownership.release, kept)
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
    from .backends.folder.restore import restore

    return restore(file, Path(folder), clock, replace=replace)


async def open_server(url: str, settings: Settings | None = None, *, clock: Clock = now, ids: Ids = new_id) -> Opened:
    """Open the store on a database server; its index is kept in this process and follows the server's feed."""
    from .backends.folder.index import FolderIndex
    from .backends.reference.backups import NoBackups

    _require("asyncpg", "postgres", "storage on PostgreSQL")
    from .backends.sql.server import ServerExecutor
    from .backends.sql.storage import SqlStorage

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
    return Opened(await _assemble(storage, FolderIndex(None), NoBackups(_PG_DUMP), settings, clock, ids))


def open_remote(url: str, api_key: str | None = None) -> RemoteEngine:
    """The engine of a running rememberd."""
    from .client import RemoteEngine

    return RemoteEngine(url, api_key)


def share(engine: Engine, open_again: Callable[[], Awaitable[Engine]]) -> Engine:
    """The engine of a folder's owner, which outlives that owner: ``open_again`` finds the next one."""
    from .client.shared import SharedEngine

    return SharedEngine(engine, open_again)


async def open_reference(settings: Settings | None = None, *, clock: Clock = now, ids: Ids = new_id) -> Opened:
    """Open a store that lives in this process and is gone with it."""
    from .backends.reference.backups import NoBackups
    from .backends.reference.place import ReferencePlace

    place = ReferencePlace()
    storage, index = await place.open_storage(), await place.open_index()
    backups = NoBackups("a store that lives in this process is not backed up; keep it in a folder")
    return Opened(await _assemble(storage, index, backups, settings or load_settings(), clock, ids))


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
    index: Index,
    backups: Backups,
    settings: Settings,
    clock: Clock,
    ids: Ids,
    let_go: Callable[[], None] | None = None,
    backup_folder: Path | None = None,
) -> LocalEngine:
    from .flow.recall import Recall

    embedders, missing = _embedders(settings)
    count_tokens = _counter(settings)
    followers, worker = Followers(), Worker(settings.integer("jobs.at_once"))
    parts = Parts(
        storage=storage,
        windows=_windows(storage),
        index=index,
        backups=backups,
        recall=Recall(storage=storage, index=index, embedders=embedders, count_tokens=count_tokens),
        clock=clock,
        ids=ids,
        embedders=embedders,
        policy=settings.policy,
        backup_folder=backup_folder,
        nudge=followers.nudge,
        count_tokens=count_tokens,
        missing=missing,
        settings=settings.described(),
    )
    followers.start(parts)
    worker.start(parts)
    telemetry.log("opened", storage=storage.description, missing=list(parts.missing))

    async def close() -> None:
        await worker.stop()
        await followers.stop()
        for embedder in embedders:
            await embedder.close()
        await index.close()
        await storage.close()
        if let_go is not None:
            let_go()

    return LocalEngine(parts, LOCAL, Gatekeeper(storage.api_keys, settings.maybe("server.api_key")), close)


def _windows(storage: Storage) -> Windows:
    from .backends.reference.windows import ReferenceWindows

    return ReferenceWindows(_WINDOWS_HELD if storage.exclusive else 0)


def models(settings: Settings) -> Models:
    """The folder of the fetched models, and where they come from."""
    from .providers.model_folder import default_folder
    from .providers.pull import Models

    folder = settings.maybe("models.folder")
    return Models(Path(folder).expanduser() if folder else default_folder(), settings.maybe("models.source"))


def _embedders(settings: Settings) -> tuple[tuple[Embedder, ...], dict[str, str]]:
    """What makes vectors; or nothing, and why."""
    from .providers.embed import TestEmbedder
    from .providers.onnx import local_lanes

    chosen = settings.text("models.embedder")
    if chosen == "test":
        return (TestEmbedder(),), {}
    if chosen == "openai":
        return (_endpoint(settings),), {}
    if chosen == "none":
        return (), {"vectors": f"models.embedder is none, {_SO}"}
    try:
        return local_lanes(models(settings).folder), {}
    except ModelUnavailable as failure:
        symptom, _, cure = failure.detail.partition("; ")
        return (), {"vectors": f"{symptom}, {_SO}; {cure}"}


def _endpoint(settings: Settings) -> Embedder:
    from .providers.openai import OpenAIEmbedder

    unset = [name for name in ("models.url", "models.name", "models.dimension") if not settings.maybe(name)]
    if unset:
        raise SettingsError(f"models.embedder is openai, but {', '.join(unset)} must be set too")
    return OpenAIEmbedder(
        settings.text("models.url"),
        settings.text("models.name"),
        settings.integer("models.dimension"),
        settings.maybe("models.api_key"),
    )


def _counter(settings: Settings) -> Counter:
    from .providers.tokens import ExactCounter

    encoding = settings.text("tokens.encoding")
    if encoding == "estimate":
        return estimate
    try:
        return ExactCounter("o200k_base" if encoding == "auto" else encoding, models(settings).folder)
    except ModelUnavailable as failure:
        if encoding == "auto":
            return estimate
        raise SettingsError(f"tokens.encoding is {encoding}, but {failure.detail}") from failure


def _require(module: str, extra: str, needed_for: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(extra, needed_for) from error
