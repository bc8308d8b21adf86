"""Under load: one thread written to from two processes, and a server that is told to end.

``make load`` tries it with more: ``APPENDS`` says how many messages each of sixteen writers appends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rememberd import blocking
from tests import postgres
from tests.cli.processes import Server, environment
from tests.conftest import plain_settings

if TYPE_CHECKING:
    from rememberd.model import Message

APPENDS = int(os.environ.get("APPENDS", "60"))
FOREVER = 1_000_000
ROOT = Path(__file__).parents[2]
_PATIENCE = 300
QUIET = {"REMEMBERD_LOG_LEVEL": "error"}

Acknowledged = list[tuple[int, int, int, str]]  # writer, number, seq, id


class Clients:
    """Two processes with eight writers each, which note what was acknowledged in files."""

    def __init__(self, folder: Path, url: str, appends: int) -> None:
        self._files = [folder / f"client-{first}" for first in (0, 8)]
        self._processes = []
        for first, file in zip((0, 8), self._files, strict=True):
            command = [sys.executable, "-m", "tests.load.writers", url, str(first), "8", str(appends)]
            with file.open("wb") as out:
                self._processes.append(
                    subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env=environment(), cwd=ROOT)
                )

    def acknowledged(self) -> Acknowledged:
        """Everything so far."""
        lines = [line for file in self._files for line in file.read_bytes().splitlines(keepends=True)]
        return [tuple(json.loads(line)) for line in lines if line.endswith(b"\n")]

    def wait(self) -> Acknowledged:
        """Everything, when they have ended."""
        for process in self._processes:
            _, err = process.communicate(timeout=_PATIENCE)
            assert process.returncode == 0, err.decode()
        return self.acknowledged()

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()


def _record(place: Path | str) -> list[Message]:
    """The thread, oldest first, read without the server."""
    with blocking.connect(place, settings=plain_settings()) as memory:
        found: list[Message] = []
        after = None
        while True:
            page = memory.of(user="lin", thread="one").history(order="oldest", limit=1000, after=after)
            found += page.items
            after = page.next
            if after is None:
                return found


@pytest.mark.parametrize("storage", ["folder", pytest.param("postgresql", marks=pytest.mark.integration)])
def test_sixteen_writers_in_two_processes_leave_no_gap_and_no_repeat(tmp_path: Path, storage: str) -> None:
    url = postgres.server().fresh_database() if storage == "postgresql" else None
    with Server(tmp_path, *(["--storage", url] if url else []), **QUIET) as server:
        with Clients(tmp_path, server.url, APPENDS) as clients:
            told = clients.wait()
        assert server.end().code == 0
    messages = _record(url or tmp_path / "memory")
    everyone = 16 * APPENDS
    assert [message.seq for message in messages] == list(range(1, everyone + 1))
    assert sorted(seq for _, _, seq, _ in told) == list(range(1, everyone + 1))
    assert {(message.seq, message.id) for message in messages} == {(seq, id_) for _, _, seq, id_ in told}
    for writer in range(16):
        said = [message.content for message in messages if message.content.startswith(f"{writer} ")]
        assert said == [f"{writer} {number}" for number in range(APPENDS)]


def test_a_server_that_is_told_to_end_under_load_loses_nothing(tmp_path: Path) -> None:
    with Server(tmp_path, **QUIET) as server, Clients(tmp_path, server.url, FOREVER) as clients:
        while len(clients.acknowledged()) < 200:
            time.sleep(0.05)
        began = time.monotonic()
        ended = server.end(signal.SIGTERM)
        took = time.monotonic() - began
        told = clients.wait()
    assert (ended.code, took <= 10.0) == (0, True), f"{took:.1f} s: {ended.err}"
    messages = _record(tmp_path / "memory")
    assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
    assert {id_ for *_, id_ in told} <= {message.id for message in messages}
    assert len({message.content for message in messages}) == len(messages), "something was recorded twice"


@pytest.mark.slow
def test_a_request_that_never_ends_does_not_keep_a_server_from_ending(tmp_path: Path) -> None:
    with Server(tmp_path, **QUIET) as server:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            head = f"Host: {host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
            connection.sendall(b"POST /v1/ingest HTTP/1.1\r\n" + head.encode())
            time.sleep(0.3)
            began = time.monotonic()
            ended = server.end(signal.SIGTERM)
    assert (ended.code, time.monotonic() - began <= 10.0) == (0, True), ended.err
