"""rememberd serve: who is let in, what it says, and how it ends."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from typing import TYPE_CHECKING

import httpx2
import pytest

from rememberd.cli.listening import Listening
from rememberd.errors import SettingsError
from tests import postgres

from .processes import Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Shell

SECRET = "the-operators-own-key"
MESSAGE = {"user": "lin", "thread": "t", "messages": [{"role": "user", "content": "我想买一台笔记本电脑"}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without API keys, and with names of its own."""
    names = "memory.example, Other.Example"
    with Server(tmp_path_factory.mktemp("served"), REMEMBERD_SERVER_HOSTS=names) as server:
        yield server


def test_it_says_where_it_listens_and_what_is_missing(server: Server) -> None:
    assert server.ready["docs"] == f"{server.url}/docs"
    assert server.ready["keyless"] is True
    assert any(symptom.startswith("vectors") for symptom in server.ready["symptoms"])
    assert httpx2.get(f"{server.url}/readyz").status_code == 200
    assert httpx2.get(server.ready["docs"]).status_code == 200


@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_well_when_asked_to(tmp_path: Path, wish: signal.Signals) -> None:
    with Server(tmp_path, "--data", "here") as server:
        assert (tmp_path / "here" / "owner.json").exists()
        ended = server.end(wish)
    assert ended.code == 0
    assert "Traceback" not in ended.err
    assert not (tmp_path / "here" / "owner.json").exists()


def test_requests_under_way_are_answered_before_the_end(shell: Shell) -> None:
    with Server(shell.folder) as server:
        host, port = server.url.removeprefix("http://").split(":")
        body = json.dumps(MESSAGE).encode()
        with socket.create_connection((host, int(port))) as connection:
            head = f"Host: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(b"POST /v1/ingest HTTP/1.1\r\n" + head.encode() + body[:10])
            time.sleep(0.3)
            ending = threading.Thread(target=server.end)
            ending.start()
            time.sleep(0.3)
            connection.sendall(body[10:])
            assert connection.recv(100).startswith(b"HTTP/1.1 201")
        ending.join()
    assert server.process.returncode == 0
    assert shell.ask("stats")["messages"] == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_reach_needs_an_api_key(shell: Shell, host: str) -> None:
    ended = shell("serve", "--host", host, "--port", "0")
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.splitlines()[-1].startswith(f"rememberd: refusing to listen on {host} without an API key")
    assert not (shell.folder / "memory" / "owner.json").exists()


def test_a_revoked_api_key_is_none(shell: Shell) -> None:
    api_key = shell.ask("keys", "add", "--operator")
    shell("keys", "revoke", api_key["id"])
    assert shell("serve", "--host", "0.0.0.0", "--port", "0").code == 2


def test_a_stored_api_key_is_asked_for(shell: Shell) -> None:
    token = shell.ask("keys", "add", "default")["token"]
    with Server(shell.folder) as server:
        assert server.ready["keyless"] is False
        assert shell("history", "--url", server.url).code == 7
        assert shell("history", "--url", server.url, "--api-key", "wrong").code == 7
        assert shell("history", "--url", server.url, "--api-key", token).code == 0
        assert shell("stats", "--url", server.url, "--api-key", token).code == 7
        assert shell("stats").code == 0  # the folder's owner knows its own commands


def test_the_operators_api_key_comes_from_the_settings(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(shell.folder, REMEMBERD_API_KEY=SECRET) as server:
        assert shell("stats", "--url", server.url).code == 7
        monkeypatch.setenv("REMEMBERD_API_KEY", SECRET)
        assert shell("stats", "--url", server.url).code == 0
        assert SECRET not in server.end().err


def test_the_host_header_is_checked(server: Server) -> None:
    statuses = {
        name: httpx2.get(f"{server.url}/healthz", headers={"Host": name}).status_code
        for name in ("127.0.0.1", "localhost:80", "[::1]", "memory.example", "other.example", "evil.example")
    }
    assert statuses.pop("evil.example") == 403
    assert set(statuses.values()) == {200}


def test_logs_are_json_lines_without_content(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        assert httpx2.post(f"{server.url}/v1/ingest", json=MESSAGE).status_code == 201
        httpx2.post(f"{server.url}/v1/query", json={"user": "lin", "query": "笔记本"})
        ended = server.end()
    events = [json.loads(line) for line in ended.err.splitlines()]
    assert ("POST", "/v1/ingest", 201) in {
        (event.get("method"), event.get("route"), event.get("status")) for event in events
    }
    assert "笔记本" not in ended.err


def test_a_port_in_use_is_said_so(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = shell("serve", "--port", str(taken.getsockname()[1]))
    assert ended.code == 6
    assert "Address already in use" in ended.err.splitlines()[-1]


@pytest.mark.integration
def test_it_serves_from_a_database_server(shell: Shell) -> None:
    url = postgres.server().fresh_database()
    with Server(shell.folder, "--storage", url) as server:
        assert httpx2.post(f"{server.url}/v1/ingest", json=MESSAGE).status_code == 201
        assert shell.ask("query", "电脑", "--user", "lin", "--url", server.url)["raw_chunks"]
        assert server.end().code == 0
    assert not (shell.folder / "memory").exists()


@pytest.mark.parametrize(
    ("host", "loopback", "names"),
    [
        ("127.0.0.1", True, {"localhost", "127.0.0.1", "::1"}),
        ("localhost", True, {"localhost", "127.0.0.1", "::1"}),
        ("127.0.0.2", True, {"localhost", "127.0.0.1", "::1", "127.0.0.2"}),
        ("192.0.2.1", False, {"localhost", "127.0.0.1", "::1", "192.0.2.1"}),
        ("0.0.0.0", False, None),
    ],
)
def test_the_names_of_an_address(host: str, loopback: bool, names: set[str] | None) -> None:
    listening = Listening.on(host)
    assert listening.is_loopback == loopback
    assert listening.names(None) == (None if names is None else frozenset(names))


def test_a_wildcard_address_with_names_answers_to_those_only() -> None:
    names = Listening.on("0.0.0.0").names("Memory.Example")
    assert names == frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "memory.example"})


def test_a_name_without_an_address_is_refused() -> None:
    with pytest.raises(SettingsError, match="no address"):
        Listening.on("no such host")
