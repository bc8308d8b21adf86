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
from .errors import MissingExtra, ModelUnavailable, SettingsError
from .guard.gatekeeper import Gatekeeper
from .language.tokens import estimate
from .model import Actor
from .ports.parts import Parts
from .settings import Settings, load_settings
from .work.follow import Followers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .backends.folder.owner import OwnerCard
    from .client import RemoteEngine
    from .engine import Engine
    from .flow.recall.stages import Stage, Stages
    from .language.tokens import Counter
    from .ports.index import Index
    from .ports.models import Embedder
    from .ports.storage import Storage
    from .ports.surroundings import Clock, Ids
    from .ports.windows import Windows
    from .providers.pull import Models

#: The actor of a process that opened the store itself.
LOCAL = Actor("local", operator=True)

_WINDOWS_HELD = 10_000
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
    from .backends.folder.index import FolderIndex
    from .backends.folder.owner import Ownership
    from .backends.sql.sqlite import SqliteExecutor
    from .backends.sql.storage import SqlStorage

    folder = Path(folder)
    settings = settings or load_settings()
    ownership = Ownership.take(folder, will_serve=will_serve)
    try:
        executor = SqliteExecutor(folder / "memory.db", synchronous=settings.text("database.synchronous"))
        storage = await SqlStorage.open(executor)
        index = FolderIndex(folder / "index.db")
    except BaseException:
        ownership.release()
        raise
    return Opened(await _assemble(storage, index, settings, clock, ids, ownership.release), ownership)


async def open_server(url: str, settings: Settings | None = None, *, clock: Clock = now, ids: Ids = new_id) -> Opened:
    """Open the store on a database server; its index is kept in this process and follows the server's feed."""
    from .backends.folder.index import FolderIndex

    _require("asyncpg", "postgres", "storage on PostgreSQL")
    from .backends.sql.server import ServerExecutor
    from .backends.sql.storage import SqlStorage

    settings = settings or load_settings()
    executor = ServerExecutor(
        server_url(url),
        pool_size=settings.integer("database.pool_size"),
        max_overflow=settings.integer("database.max_overflow"),
        timeout=settings.number("database.timeout"),
    )
    storage = await SqlStorage.open(executor)
    return Opened(await _assemble(storage, FolderIndex(None), settings, clock, ids))


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
    from .backends.reference.place import ReferencePlace

    place = ReferencePlace()
    storage, index = await place.open_storage(), await place.open_index()
    return Opened(await _assemble(storage, index, settings or load_settings(), clock, ids))


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
    settings: Settings,
    clock: Clock,
    ids: Ids,
    let_go: Callable[[], None] | None = None,
) -> LocalEngine:
    from .flow.recall import Recall

    embedders, missing = _embedders(settings)
    count_tokens = _counter(settings)
    followers = Followers()
    parts = Parts(
        storage=storage,
        windows=_windows(storage),
        index=index,
        recall=Recall(
            storage=storage, index=index, embedders=embedders, count_tokens=count_tokens, stages=_stages(settings)
        ),
        clock=clock,
        ids=ids,
        embedders=embedders,
        policy=settings.policy,
        nudge=followers.nudge,
        count_tokens=count_tokens,
        missing=missing,
        settings=settings.described(),
    )
    followers.start(parts)
    telemetry.log("opened", storage=storage.description, missing=list(parts.missing))

    async def close() -> None:
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
