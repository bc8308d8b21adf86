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

from . import crash, telemetry
from .backends.folder.owner import Ownership
from .engine import LocalEngine
from .errors import MissingExtra, ModelUnavailable, SettingsError, disk_failure
from .guard.gatekeeper import Gatekeeper
from .language.tokens import estimate
from .model import Actor, DrainRule
from .operate.backup import keep
from .ports.lanes import Lanes
from .ports.models import space_of
from .ports.parts import Parts
from .settings import Settings, load_settings
from .work.drain import Drain
from .work.follow import Followers
from .work.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from .backends.folder.files import Files
    from .backends.folder.owner import OwnerCard
    from .backends.folder.restore import Restored
    from .client import RemoteEngine
    from .engine import Engine
    from .flow.recall.stages import Stage, Stages
    from .language.tokens import Counter
    from .model import Progress
    from .ports.backups import Backups
    from .ports.index import Index
    from .ports.models import Embedder
    from .ports.spool import Spool
    from .ports.storage import Storage
    from .ports.surroundings import Clock, Ids
    from .ports.vectors import Space
    from .ports.windows import Windows
    from .providers.pull import Models

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
    from .backends.folder.owner import owner_of

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
    from .backends.folder.backup import DATABASE, FolderBackups
    from .backends.folder.files import Files
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
    from .backends.folder.restore import restore

    return restore(file, Path(folder), clock, replace=replace)


async def open_server(url: str, settings: Settings | None = None, *, clock: Clock = now, ids: Ids = new_id) -> Opened:
    """Open the store on a database server; its index is kept in this process and follows the server's feed."""
    from .backends.folder.berth import Berth
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
    storage, spool, index = await place.open_storage(), await place.open_spool(), await place.open_index()
    backups = NoBackups("a store that lives in this process is not backed up; keep it in a folder")
    return Opened(await _assemble(storage, spool, index, backups, settings or load_settings(), clock, ids))


def scratch_database(url: str) -> AbstractAsyncContextManager[str]:
    """A fresh database on the server that ``url`` names, as a URL, which is removed afterwards."""
    _require("asyncpg", "postgres", "storage on PostgreSQL")
    from .backends.sql.scratch import scratch_database

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
    from .flow.recall import Recall
    from .flow.spool import Spooler
    from .providers.repeated import Repeated

    embedders, missing = _embedders(settings)
    lanes = Lanes(storage, [Repeated(embedder) for embedder in embedders], partial(_revive, settings))
    await lanes.open()
    count_tokens, prepare = _counter(settings)
    followers, worker = Followers(), Worker(settings.integer("jobs.at_once"))
    spooler = Spooler(spool)
    await spooler.load()
    recall = Recall(
        storage=storage,
        index=index,
        lanes=lanes,
        waiting=spooler,
        prepare=prepare,
        stages=_stages(settings),
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
    from .backends.folder.spool import FolderSpool

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
    from .providers.bridge import BridgeLane
    from .providers.embed import TestEmbedder
    from .providers.onnx import local_lanes

    chosen = settings.text("models.embedder")
    bridge = (BridgeLane(chinese=True), BridgeLane(chinese=False)) if settings.text("models.bridge") == "use" else ()
    if bridge and chosen != "auto":
        raise SettingsError("models.bridge goes with the fetched models: models.embedder must be auto")
    if chosen == "none":
        return (), {"vectors": "models.embedder is none, so recall goes by words alone"}
    if chosen == "test":
        return (TestEmbedder(settings.maybe("models.name") or "test-1"),), {}
    if chosen == "openai":
        return (_endpoint(settings),), {}
    if chosen == "fastembed":
        return (_fastembed(settings),), {}
    return (*local_lanes(models(settings).folder), *bridge), {}


def _revive(settings: Settings, space: Space) -> Embedder | None:
    """What made the vectors of a space under earlier settings, if it can be made again."""
    from .providers.bridge import BridgeLane
    from .providers.embed import TestEmbedder
    from .providers.fastembed import FastembedEmbedder
    from .providers.onnx import local_lanes
    from .providers.openai import OpenAIEmbedder

    recipe = space.recipe
    made: list[Embedder] = []
    if recipe.get("embedder") == "test":
        made = [TestEmbedder(recipe["name"])]
    elif recipe.get("embedder") == "openai":
        same = recipe["url"] == settings.maybe("models.url")
        api_key = settings.maybe("models.api_key") if same else None  # an API key is for the endpoint it was set for
        made = [OpenAIEmbedder(recipe["url"], recipe["name"], int(recipe["dimension"]), api_key)]
    elif recipe.get("embedder") == "fastembed":
        made = [FastembedEmbedder(Path(recipe["path"]), recipe["name"], int(recipe["dimension"]))]
    elif recipe.get("embedder") == "bridge":
        made = [BridgeLane(chinese=True), BridgeLane(chinese=False)]
    else:
        made = list(local_lanes(models(settings).folder))
    return next((embedder for embedder in made if space_of(embedder) == space), None)


def _endpoint(settings: Settings) -> Embedder:
    from .providers.openai import OpenAIEmbedder

    _require_set(settings, "models.url", "models.name", "models.dimension")
    return OpenAIEmbedder(
        settings.text("models.url"),
        settings.text("models.name"),
        settings.integer("models.dimension"),
        settings.maybe("models.api_key"),
    )


def _fastembed(settings: Settings) -> Embedder:
    from .providers.fastembed import FastembedEmbedder

    _require_set(settings, "models.path", "models.name", "models.dimension")
    folder = Path(settings.text("models.path")).expanduser()
    return FastembedEmbedder(folder, settings.text("models.name"), settings.integer("models.dimension"))


def _require_set(settings: Settings, *names: str) -> None:
    unset = [name for name in names if not settings.maybe(name)]
    if unset:
        chosen = settings.text("models.embedder")
        raise SettingsError(f"models.embedder is {chosen}, but {', '.join(unset)} must be set too")


def _counter(settings: Settings) -> tuple[Counter, Callable[[], Awaitable[None]] | None]:
    """What counts tokens, and what has to be waited for before it does."""
    from .providers.tokens import ExactCounter

    encoding = settings.text("tokens.encoding")
    if encoding == "estimate":
        return estimate, None
    try:
        exact = ExactCounter("o200k_base" if encoding == "auto" else encoding, models(settings).folder)
    except ModelUnavailable as failure:
        if encoding == "auto":
            return estimate, None
        raise SettingsError(f"tokens.encoding is {encoding}, but {failure.detail}") from failure
    return exact, exact.prepare


def _stages(settings: Settings) -> Stages:
    """The stages of recall by name; a name with a colon is a function of another module."""
    from .flow.recall.stages import STAGES, Stages

    names = settings.text("recall.stages").replace(",", " ").split()
    unknown = [name for name in names if name not in STAGES and ":" not in name]
    if unknown:
        raise SettingsError(
            f"recall.stages: {unknown[0]} is not a stage; use {', '.join(STAGES)}, or module:function of your own"
        )
    others = tuple(_function(name) for name in names if ":" in name)
    return Stages(frozenset(names).intersection(STAGES), others)


def _function(name: str) -> Stage:
    module, _, attribute = name.partition(":")
    try:
        function: Stage = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(f"recall.stages: {name} cannot be loaded: {error}") from error
    return function


def _require(module: str, extra: str, needed_for: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(extra, needed_for) from error
