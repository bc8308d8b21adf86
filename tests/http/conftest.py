"""A server in process, on every storage, and one on loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI

from rememberd import wiring
from rememberd.server import Gate, create_app
from tests import postgres
from tests.conftest import plain_settings

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from pathlib import Path


R = TypeVar("R")

KEYLESS = Gate(keyless=True)
OWNER_TOKEN = "the owner's own token"


class House:
    """An engine, the app around it, and the loop that both live on."""

    def __init__(self, gate: Gate, kind: str, folder: Path) -> None:
        self._runner = asyncio.Runner()
        self.engine = self.run(_opening(kind, folder)).engine
        self.app = create_app(self.engine, gate=gate)
        self.transport = httpx2.ASGITransport(self.app)
        self._http = httpx2.AsyncClient(transport=self.transport, base_url="http://localhost")

    def run(self, call: Coroutine[Any, Any, R]) -> R:
        return self._runner.run(call)

    def call(self, method: str, path: str, *, token: str | None = None, **request: Any) -> httpx2.Response:
        headers = dict(request.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.run(self._http.request(method, path, headers=headers, **request))

    def get(self, path: str, **request: Any) -> httpx2.Response:
        return self.call("GET", path, **request)

    def post(self, path: str, body: Any = None, **request: Any) -> httpx2.Response:
        return self.call("POST", path, json=body, **request)

    def raw(self, path: str, body: bytes, media_type: str = "application/json") -> httpx2.Response:
        return self.call("POST", path, content=body, headers={"Content-Type": media_type})

    def close(self) -> None:
        self.run(self._http.aclose())
        self.run(self.engine.close())
        self._runner.close()


@dataclass(frozen=True)
class Served:
    """A server that listens on loopback."""

    url: str
    app: FastAPI


def _opening(kind: str, folder: Path) -> Coroutine[Any, Any, wiring.Opened]:
    if kind == "folder":
        return wiring.open_folder(folder, plain_settings(database__synchronous="OFF"))
    return wiring.open_server(postgres.server().fresh_database(), plain_settings())


@pytest.fixture(params=["folder", pytest.param("postgresql", marks=pytest.mark.integration)])
def kind(request: pytest.FixtureRequest) -> str:
    """The storage underneath: the API is the same on each."""
    chosen: str = request.param
    return chosen


@pytest.fixture
def house(kind: str, tmp_path: Path) -> Iterator[House]:
    """Everyone may come in."""
    house = House(KEYLESS, kind, tmp_path)
    yield house
    house.close()


@pytest.fixture
def locked(kind: str, tmp_path: Path) -> Iterator[House]:
    """Only with an API key."""
    house = House(Gate(keyless=False, owner_token=OWNER_TOKEN), kind, tmp_path)
    yield house
    house.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    listening = socket.socket(proto=socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle's algorithm on
    listening.bind(("127.0.0.1", 0))
    began = threading.Event()
    parts: list[Any] = []

    async def serve() -> None:
        engine = (await _opening("folder", tmp_path)).engine
        app = create_app(engine, gate=KEYLESS)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        parts.extend((app, server))
        began.set()
        await server.serve(sockets=[listening])
        await engine.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert began.wait(10)
    app, server = parts
    yield Served(f"http://127.0.0.1:{listening.getsockname()[1]}", app)
    server.should_exit = True
    thread.join()
    listening.close()
