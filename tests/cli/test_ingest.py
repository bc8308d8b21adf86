"""Recording files: each message once, however often and however far a file was read."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .processes import run, start

if TYPE_CHECKING:
    from .conftest import Shell


def said(content: object, **fields: object) -> str:
    return json.dumps({"role": "user", "content": content, **fields}, ensure_ascii=False)


def numbered(count: int) -> list[str]:
    return [said(f"message {i}", user=f"u{i % 20}", thread=f"t{i % 20}") for i in range(count)]


def test_a_second_run_records_nothing_new(shell: Shell) -> None:
    file = shell.write("chat.jsonl", said("一"), said("two"))
    assert shell.ask("ingest", file) == {"messages": 2, "recorded": 2, "duplicate": 0, "spooled": 0, "threads": 1}
    assert shell.ask("ingest", file) == {"messages": 2, "recorded": 0, "duplicate": 2, "spooled": 0, "threads": 1}
    assert "0 recorded, 2 known before" in shell("ingest", file).out


def test_the_same_words_twice_in_a_file_are_two_messages(shell: Shell) -> None:
    assert shell.ask("ingest", shell.write("chat.jsonl", said("yes"), said("yes")))["recorded"] == 2


def test_a_file_that_has_grown_is_read_on(shell: Shell) -> None:
    shell("ingest", shell.write("chat.jsonl", said("one")), "--thread", "t")
    grown = shell.ask("ingest", shell.write("chat.jsonl", said("one"), said("two")), "--thread", "t")
    assert (grown["recorded"], grown["duplicate"]) == (1, 1)


def test_the_same_file_for_another_user_is_another_conversation(shell: Shell) -> None:
    file = shell.write("chat.jsonl", said("one"))
    assert shell.ask("ingest", file, "--user", "lin")["recorded"] == 1
    assert shell.ask("ingest", file, "--user", "ada")["recorded"] == 1


def test_a_line_may_bring_its_own_scope(shell: Shell) -> None:
    lines = [said("one", user="lin", thread="a"), said("two", user="ada", thread="b", tenant="acme"), said("three")]
    assert shell.ask("ingest", shell.write("chat.jsonl", *lines), "--user", "bo")["threads"] == 3
    assert [one["content"] for one in shell.ask("history", "--user", "lin", "--thread", "a")["items"]] == ["one"]
    assert [one["content"] for one in shell.ask("history", "--user", "ada", "--tenant", "acme")["items"]] == ["two"]
    assert [one["content"] for one in shell.ask("history", "--user", "bo")["items"]] == ["three"]


def test_a_line_may_bring_its_own_idempotency_key(shell: Shell) -> None:
    lines = [said("one", idempotency_key="k"), said("one", idempotency_key="k")]
    answer = shell.ask("ingest", shell.write("chat.jsonl", *lines))
    assert (answer["recorded"], answer["duplicate"]) == (1, 1)


def test_messages_keep_their_fields_and_their_order(shell: Shell) -> None:
    lines = ["\ufeff" + said("一", name="Lin", at="2026-11-15T08:00:00Z", metadata={"mood": "calm"}), "", said("二")]
    shell("ingest", shell.write("chat.jsonl", *lines), "--thread", "t")
    first, second = shell.ask("history", "--order", "oldest")["items"]
    assert (first["content"], first["name"], first["metadata"]) == ("一", "Lin", {"mood": "calm"})
    assert first["at"].startswith("2026-11-15T08:00:00")
    assert second["content"] == "二"


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('"hello"', "is not a JSON object"),
        (said(""), "/content"),
        (said(7), "/content"),
        (said("x", role="king"), "/role"),
        (said("x", colour="red"), "/colour"),
        (said("x", user=7), "/user"),
        (said("x", at="tomorrow"), "/at"),
        (said("x", metadata=[]), "/metadata"),
        ('{"role": "user", "content": "a\\u0000b"}', "/content"),
        ('{"role": "user", "content": "\\ud800"}', "line 2"),
        ('{"role": "user"}', "/content"),
        ("[" * 5000, "is not JSON"),
    ],
)
def test_a_bad_line_is_named_and_its_batch_refused(shell: Shell, bad: str, named: str) -> None:
    ended = shell("ingest", shell.write("chat.jsonl", said("good"), bad, said("good too")))
    assert ended.code == 5
    assert "line 2" in ended.err
    assert named in ended.err
    assert "line 3/" not in ended.err
    assert shell.ask("stats")["messages"] == 0


def test_what_came_before_the_bad_batch_is_recorded_and_the_mended_file_is_read_again(shell: Shell) -> None:
    lines = numbered(1100)
    ended = shell("ingest", shell.write("chat.jsonl", *lines[:700], "oops", *lines[701:]), "--json")
    assert ended.code == 5
    assert [fault["pointer"] for fault in ended.problem["errors"]] == ["line 701"]
    assert "lines 501 to 1000 were refused" in ended.problem["detail"]
    assert shell.ask("stats")["messages"] == 500
    assert shell.ask("ingest", shell.write("chat.jsonl", *lines))["recorded"] == 600
    assert shell.ask("stats")["messages"] == 1100


def test_someone_elses_thread_is_a_conflict(shell: Shell) -> None:
    shell("ingest", shell.write("one.jsonl", said("mine")), "--user", "lin", "--thread", "t")
    ended = shell("ingest", shell.write("two.jsonl", said("mine too")), "--user", "ada", "--thread", "t")
    assert ended.code == 4
    assert "line 1" in ended.err


def test_standard_input_is_a_file_too(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    file = shell.write("chat.jsonl", said("一"), said("two"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(file).read_bytes())))
    assert shell.ask("ingest", "-")["recorded"] == 2
    assert shell.ask("ingest", file)["duplicate"] == 2


@pytest.mark.parametrize("count", [4_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_killed_halfway_and_run_again_each_message_is_there_once(tmp_path: Path, count: int) -> None:
    lines = [line.encode() + b"\n" for line in numbered(count)]
    (tmp_path / "chat.jsonl").write_bytes(b"".join(lines))
    killed = start(tmp_path, "ingest", "-")
    assert killed.stdin is not None
    killed.stdin.write(b"".join(lines[: count // 2]))
    killed.stdin.flush()
    killed.kill()
    killed.communicate()
    again = run(tmp_path, "ingest", "chat.jsonl", "--json", patience=300).document
    assert again["recorded"] > 0
    assert again["duplicate"] > 0
    assert again["recorded"] + again["duplicate"] == count
    assert run(tmp_path, "stats", "--json").document["messages"] == count
