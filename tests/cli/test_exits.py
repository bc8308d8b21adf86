"""How commands fail: a stable exit code, one line on stderr, nothing on stdout, no traceback."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from rememberd import errors
from rememberd.cli.exits import EXIT_CODES, exit_code

from .processes import start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Shell

CODES = {
    "error": 1,
    "invalid_request": 5,
    "too_large": 5,
    "not_authenticated": 7,
    "access_denied": 7,
    "not_found": 3,
    "conflict": 4,
    "idempotency_conflict": 4,
    "thread_taken": 4,
    "stale_revision": 4,
    "unavailable": 6,
    "storage_unavailable": 6,
    "storage_full": 6,
    "server_unreachable": 6,
    "model_unavailable": 6,
    "unsupported": 1,
    "folder_in_use": 6,
    "damaged_store": 1,
    "settings_error": 2,
    "missing_extra": 1,
}


def _ours(kind: type[errors.RememberdError]) -> Iterator[type[errors.RememberdError]]:
    if kind.__module__ == errors.__name__:
        yield kind
    for narrower in kind.__subclasses__():
        yield from _ours(narrower)


def test_every_error_has_its_exit_code() -> None:
    assert {kind.code: exit_code(kind.__new__(kind)) for kind in _ours(errors.RememberdError)} == CODES
    assert set(EXIT_CODES.values()) == {1, 2, 3, 4, 5, 6, 7}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("forget-me-not",), 2),
        (("query",), 2),
        (("query", "x", "--loud"), 2),
        (("query", "x", "--k", "many"), 2),
        (("query", "x", "--data", "here", "--url", "http://127.0.0.1:9"), 2),
        (("query", "x", "--filter", "kind"), 2),
        (("query", "x", "--config", "nowhere.yaml"), 2),
        (("ingest", "nowhere.jsonl"), 2),
        (("memories", "revise", "some-id"), 2),
        (("keys", "add"), 2),
        (("keys", "add", "acme", "--operator"), 2),
        (("rebuild", "--view", "house"), 2),
        (("serve", "--data", "here", "--storage", "postgresql://there"), 2),
        (("serve", "--storage", "mongodb://there"), 2),
        (("serve", "--host", "no such host"), 2),
        (("serve", "--port", "99999"), 2),
        (("memories", "get", "no-such-id"), 3),
        (("query", "x", "--k", "-1"), 5),
        (("query", "x", "--filter", "colour=red"), 5),
        (("query", " "), 5),
        (("history", "--limit", "0"), 5),
        (("history", "--after", "no-cursor"), 5),
        (("memories", "add", "x", "--kind", "message"), 5),
        (("memories", "add", "x", "--expires-at", "tomorrow"), 5),
        (("stats", "--url", "http://127.0.0.1:9"), 6),
        (("stats", "--url", "postgresql://lin@127.0.0.1:9/x"), 6),
    ],
    ids=str,
)
def test_a_failure_is_one_line(shell: Shell, arguments: tuple[str, ...], code: int) -> None:
    ended = shell(*arguments)
    assert ended.code == code
    assert ended.out == ""
    last = ended.err.splitlines()[-1]
    assert last.startswith("rememberd: ")
    assert len(ended.err.splitlines()) == 1 or arguments[0] == "serve"


def test_a_database_server_that_is_not_there_is_told_with_what_to_look_at(shell: Shell) -> None:
    for arguments in (("serve", "--storage"), ("stats", "--url")):
        ended = shell(*arguments, "postgresql://lin:secret@127.0.0.1:9/x")
        assert (ended.code, ended.out) == (6, "")
        assert "postgresql://lin:***@127.0.0.1:9/x cannot be used" in ended.err
        assert "see that the server runs and that the URL is right" in ended.err


def test_with_json_a_failure_is_a_problem(shell: Shell) -> None:
    problem = shell("query", " ", "--k", "-1", "--json").problem
    assert (problem["code"], problem["exit"], problem["retryable"]) == ("invalid_request", 5, False)
    assert {fault["pointer"] for fault in problem["errors"]} == {"/query", "/k"}
    assert shell("query", "--json").problem["code"] == "usage"


def test_a_stale_revision_is_a_conflict(shell: Shell) -> None:
    item = shell.ask("memories", "add", "one")
    assert shell("memories", "revise", item["id"], "--text", "two", "--expected", "1").code == 0
    assert shell("memories", "revise", item["id"], "--text", "three", "--expected", "1").code == 4


def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    process = start(tmp_path, "ingest", "-")
    while not (tmp_path / "memory" / "owner.json").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    assert process.communicate() == (b"", b"")
