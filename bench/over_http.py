"""What HTTP adds: processor time of a call over HTTP, of the same call in process, and of a bare echo.

    python -m bench.over_http [--calls 2000] [--rounds 3]

The client and the server are processes of their own; only the server's processor time counts, and every case
is asked at the same pace, one request at a time. The best round counts.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import socket
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from rememberd import Memory, Scope, wiring
from rememberd.server import Gate, create_app
from rememberd.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from multiprocessing.connection import Connection

    from starlette.requests import Request

TEXT = "forty words or so make a message that somebody might really have said to an agent in the course of a day, " * 2
SCOPE = Scope(user="lin", thread="t-1")
INGEST = {"user": "lin", "thread": "t-1", "messages": [{"role": "user", "content": TEXT}]}
QUERY = {"user": "mei", "query": "umbrella in the rain"}
KNOWN = [f"message {i} about an umbrella and the rain" for i in range(30)]
PAUSE = 0.001
WITHOUT_MODELS = load_settings(given={"models.embedder": "none"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    cases: dict[str, Callable[[int], float]] = {
        "echo": lambda calls: _over_http("/echo", INGEST, calls),
        "ingest in process": lambda calls: _in_process("ingest", calls),
        "ingest over HTTP": lambda calls: _over_http("/v1/ingest", INGEST, calls),
        "query in process": lambda calls: _in_process("query", calls),
        "query over HTTP": lambda calls: _over_http("/v1/query", QUERY, calls),
    }
    best = {name: min(measure(options.calls) for _ in range(options.rounds)) for name, measure in cases.items()}
    print("| case | CPU µs a call |\n| --- | --: |")
    for name, seconds in best.items():
        print(f"| {name} | {seconds * 1e6:,.0f} |")
    allowed = 3 * best["echo"]
    for verb in ("ingest", "query"):
        added = best[f"{verb} over HTTP"] - best[f"{verb} in process"]
        print(f"\nHTTP adds {added * 1e6:,.0f} µs to {verb}; three echoes are {allowed * 1e6:,.0f} µs.")


def _in_process(verb: str, calls: int) -> float:
    async def measure() -> float:
        with tempfile.TemporaryDirectory() as folder:
            opened = await wiring.open_folder(folder, WITHOUT_MODELS)
            memory = Memory(opened.engine)
            await _prepare(memory)
            asked: Callable[[], Awaitable[Any]] = (
                (lambda: memory.ingest(SCOPE, TEXT))
                if verb == "ingest"
                else (lambda: memory.query(Scope(user="mei"), QUERY["query"]))
            )
            began = time.process_time()
            for _ in range(calls):
                await asked()
                await asyncio.sleep(PAUSE)
            spent = time.process_time() - began
            await memory.close()
            return spent / calls

    return uvloop.run(measure())


async def _prepare(memory: Memory) -> None:
    await memory.ingest(Scope(user="mei", thread="t-2"), KNOWN)
    await memory.settle(10)


def _over_http(path: str, body: dict[str, Any], calls: int) -> float:
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.connect()
    client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    payload = json.dumps(body).encode()
    ours.send("clock")
    began = ours.recv()
    for _ in range(calls):
        client.request("POST", path, payload, {"Content-Type": "application/json"})
        answer = client.getresponse()
        answer.read()
        assert answer.status < 300, answer.status
        time.sleep(PAUSE)
    ours.send("clock")
    spent = ours.recv() - began
    ours.send("end")
    server.join()
    return float(spent) / calls


def _serve(pipe: Connection) -> None:
    async def echo(request: Request) -> Response:
        return Response(await request.body(), media_type="application/json")

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            opened = await wiring.open_folder(Path(folder), WITHOUT_MODELS)
            await _prepare(Memory(opened.engine))
            ours = create_app(opened.engine, gate=Gate(keyless=True))
            bare = Starlette(routes=[Route("/echo", echo, methods=["POST"])])

            async def both(scope: Any, receive: Any, send: Any) -> None:
                await (bare if scope.get("path") == "/echo" else ours)(scope, receive, send)

            bound = socket.create_server(("127.0.0.1", 0))
            server = uvicorn.Server(uvicorn.Config(both, http="httptools", lifespan="off", log_config=None))
            serving = asyncio.create_task(server.serve([bound]))
            while not server.started:
                await asyncio.sleep(0.01)
            pipe.send(bound.getsockname()[1])
            loop = asyncio.get_running_loop()
            while await loop.run_in_executor(None, pipe.recv) == "clock":
                pipe.send(time.process_time())
            server.should_exit = True
            await serving
            await opened.engine.close()

    uvloop.run(run())


if __name__ == "__main__":
    main()
