"""rememberd serve: memory over HTTP, from this process, which owns its folder."""

from __future__ import annotations

import asyncio
import secrets
import signal
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
import uvicorn
from uvicorn.loops.auto import auto_loop_factory

from rememberd import wiring
from rememberd.errors import SettingsError
from rememberd.server import Gate, Limits, create_app
from rememberd.settings import Settings, load_settings

from .command import command
from .listening import Listening
from .logs import logging_to_stderr
from .options import ConfigFile, DataFolder
from .output import Output

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from rememberd.engine import LocalEngine

_DRAIN_SECONDS = 6  # with what comes after, no more than ten


@command
def serve(
    output: Output,
    data: DataFolder = None,
    storage: Annotated[
        str | None, typer.Option("--storage", metavar="URL", help="A database server instead: postgresql://…")
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="The address to listen on. [127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option("--port", help="The port; 0 is any free one. [7077]")] = None,
    config: ConfigFile = None,
) -> None:
    """Serve memory over HTTP. Ends on SIGTERM or Ctrl-C, after the requests under way."""
    if data is not None and storage is not None:
        raise typer.BadParameter("--data and --storage exclude each other")
    given = {"data.folder": data, "database.dsn": storage, "server.host": host, "server.port": port}
    settings = load_settings(config, given=given)
    on_server = None if data is not None else settings.maybe("database.dsn")
    with (
        logging_to_stderr(settings.text("log.level"), as_json=output.json),
        asyncio.Runner(loop_factory=auto_loop_factory()) as runner,
    ):
        runner.run(_serve(settings, on_server, output))


async def _serve(settings: Settings, on_server: str | None, output: Output) -> None:
    listening = Listening.on(settings.text("server.host"))
    opened = await _open(settings, on_server)
    engine = opened.engine
    try:
        keyless = await _is_keyless(engine, settings, listening)
        token = secrets.token_urlsafe(32)
        gate = Gate(keyless=keyless, owner_token=token, hosts=listening.names(settings.maybe("server.hosts")))
        app = create_app(engine, gate=gate, limits=Limits(body_bytes=settings.integer("server.body_limit")))
        with listening.bind(settings.integer("server.port")) as bound:
            url = listening.url(bound)
            if opened.ownership is not None:
                opened.ownership.serve_at(url, token)
            symptoms = await _symptoms(engine)
            ready = partial(_announce, output, url, keyless=keyless, symptoms=symptoms)
            await _Server(_config(app), ready).serve([bound])
    finally:
        await engine.close()


async def _open(settings: Settings, on_server: str | None) -> wiring.Opened:
    if on_server is not None:
        return await wiring.open_server(on_server, settings)
    return await wiring.open_folder(settings.text("data.folder"), settings, will_serve=True)


async def _is_keyless(engine: LocalEngine, settings: Settings, listening: Listening) -> bool:
    """Whether no API key exists. Raises ``SettingsError`` if others than this machine could come in without one."""
    if settings.maybe("server.api_key") or any(key.revoked_at is None for key in await engine.operate.api_keys()):
        return False
    if not listening.is_loopback:
        raise SettingsError(
            f"refusing to listen on {listening.host} without an API key: others could reach it; set REMEMBERD_API_KEY, "
            "add one with `rememberd keys add --operator`, or listen on 127.0.0.1"
        )
    return True


async def _symptoms(engine: LocalEngine) -> list[str]:
    diagnosis = await engine.operate.doctor()
    return [
        "; ".join(filter(None, (f"{finding.check}: {finding.detail}", finding.cure)))
        for finding in diagnosis.findings
        if finding.state != "ok"
    ]


def _announce(output: Output, url: str, *, keyless: bool, symptoms: list[str]) -> None:
    entry = "no API key is needed" if keyless else "an API key is needed"
    lines = [f"rememberd listens on {url}, {entry}; the API is described at {url}/docs", *symptoms]
    output.show({"url": url, "docs": f"{url}/docs", "keyless": keyless, "symptoms": symptoms}, *lines)


def _config(app: Callable[..., Any]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )


class _Server(uvicorn.Server):
    """Says when it is ready, and takes a signal for a wish to end well, not for a failure."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._when_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for wish in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(wish, self.handle_exit, wish, None)
        yield
