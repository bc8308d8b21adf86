"""A server in process, and one on loopback, over the reference backend."""

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

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator


R = TypeVar("R")

KEYLESS = Gate(keyless=True)
OWNER_TOKEN = "the owner's own token"


class House:
    """An engine, the app around it, and the loop that both live on."""

    def __init__(self, gate: Gate) -> None:
        self._runner = asyncio.Runner()
        self.engine = self.run(wiring.open_reference()).engine
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


@pytest.fixture
def house() -> Iterator[House]:
    """Everyone may come in."""
    house = House(KEYLESS)
    yield house
    house.close()


@pytest.fixture
def locked() -> Iterator[House]:
    """Only with an API key."""
    house = House(Gate(keyless=False, owner_token=OWNER_TOKEN))
    yield house
    house.close()


@pytest.fixture
def served() -> Iterator[Served]:
    listening = socket.socket(proto=socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle's algorithm on
    listening.bind(("127.0.0.1", 0))
    began = threading.Event()
    parts: list[Any] = []

    async def serve() -> None:
        engine = (await wiring.open_reference()).engine
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
