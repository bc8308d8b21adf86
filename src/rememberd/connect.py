"""connect(url): a folder or a storage URL gives a local engine, an http(s) URL a remote one; same API either way."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from . import telemetry, wiring
from .engine import LocalEngine
from .errors import FolderInUse, ServerUnreachable
from .memory import Memory
from .off import OffEngine
from .settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType

    from .verbs import Engine

_PATIENCE = 3.0  # seconds that an owner may take to die, or to begin to serve
_PAUSE = 0.05


class Connecting:
    """``async with connect(…) as memory``, or ``memory = await connect(…)`` and ``await memory.close()`` later."""

    def __init__(self, url: str | Path | None, api_key: str | None, settings: Settings | None) -> None:
        self._url, self._api_key, self._settings = url, api_key, settings
        self._memory: Memory | None = None

    async def _open(self) -> Memory:
        """Without a URL, memory is switched off."""
        if self._url is None:
            self._memory = Memory(OffEngine())
        else:
            self._memory = Memory(await open_engine(self._url, self._api_key, self._settings))
        return self._memory

    def __await__(self) -> Generator[object, None, Memory]:
        return self._open().__await__()

    async def __aenter__(self) -> Memory:
        return await self._open()

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._memory is not None:
            await self._memory.close()


def connect(
    url: str | Path | None = None,
    *,
    api_key: str | None = None,
    settings: Settings | None = None,
    enable_memory: bool | None = None,
) -> Connecting:
    """Open memory: a folder, ``postgresql://…``, or ``http(s)://…`` of a running rememberd.

    Without a URL the settings decide. A folder that a running server owns is used through that server.
    ``enable_memory=False`` (or ``memory.enabled`` in the settings) switches memory off: verbs answer, nothing is kept.
    """
    if enable_memory is None:
        settings = settings or load_settings()
        enable_memory = settings.flag("memory.enabled")
    if not enable_memory:
        telemetry.log("memory_off", level=logging.WARNING)
        return Connecting(None, None, None)
    if url is None:
        settings = settings or load_settings()
        url = settings.maybe("database.dsn") or settings.text("data.folder")
    return Connecting(url, api_key, settings)


async def open_engine(url: str | Path, api_key: str | None = None, settings: Settings | None = None) -> Engine:
    place = str(url)
    if place.startswith(("http://", "https://")):
        return wiring.open_remote(place, api_key)
    if "://" in place:
        return (await wiring.open_server(place, settings)).engine
    folder = Path(place)
    engine = await _open_or_share(folder, settings)
    if isinstance(engine, LocalEngine):
        return engine
    return wiring.share(engine, lambda: _open_or_share(folder, settings))


async def _open_or_share(folder: Path, settings: Settings | None) -> Engine:
    """Own the folder, or go through the owner's server; an owner that dies meanwhile is waited out."""
    patience = time.monotonic() + _PATIENCE
    while True:
        try:
            return (await wiring.open_folder(folder, settings)).engine
        except FolderInUse:
            shared = await _through_owner(folder)
            if shared is not None:
                return shared
            if time.monotonic() > patience or _owner_does_not_serve(folder):
                raise
            await asyncio.sleep(_PAUSE)


async def _through_owner(folder: Path) -> Engine | None:
    card = wiring.owner_of(folder)
    if card is None or card.url is None:
        return None
    engine = wiring.open_remote(card.url, card.token)
    try:
        await engine.ping()
    except ServerUnreachable:
        await engine.close()
        return None
    return engine


def _owner_does_not_serve(folder: Path) -> bool:
    card = wiring.owner_of(folder)
    return card is not None and card.url is None and not card.will_serve
