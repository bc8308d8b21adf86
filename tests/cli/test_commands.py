"""What each command answers, to people and to programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rememberd.cli.table import COMMANDS
from rememberd.version import __version__

if TYPE_CHECKING:
    from .conftest import Shell

CHAT = (
    '{"role": "user", "name": "Lin", "content": "我想买一台笔记本电脑"}',
    '{"role": "agent", "content": "What is your budget?"}',
    '{"role": "user", "content": "Under 900 euros, and light"}',
)
LIN = ("--user", "lin")


@pytest.fixture
def chat(shell: Shell) -> Shell:
    """A shell in whose folder a chat is recorded."""
    assert shell("ingest", shell.write("chat.jsonl", *CHAT), *LIN, "--thread", "t-42").code == 0
    return shell


def test_query_finds_a_chinese_word(chat: Shell) -> None:
    answer = chat.ask("query", "电脑", *LIN)
    assert answer["raw_chunks"][0]["text"] == "我想买一台笔记本电脑"
    assert set(answer) == {"raw_chunks", "condensed_summary", "context", "tokens", "explanation"}
    assert answer["explanation"] is None


def test_query_explains_itself_to_people(chat: Shell) -> None:
    shown = chat("query", "电脑", *LIN, "--explain").out
    assert "Lin: 我想买一台笔记本电脑" in shown
    assert "█" in shown
    assert "shares the words 电脑" in shown
    assert "[1]" in shown
    assert "of a budget of 1,500" in shown


def test_query_tells_what_was_dropped_and_why(chat: Shell) -> None:
    asked = ("query", "电脑", *LIN, "--budget", "35", "--explain")
    shown = chat(*asked).out
    assert shown.index("Kept") < shown.index("Dropped")
    assert "does not fit the budget" in " ".join(shown.split())
    explanation = chat.ask(*asked)["explanation"]
    assert {verdict["fate"] for verdict in explanation["verdicts"]} == {"kept", "budget"}
    assert f"{explanation['ranked']} ranked, 1 kept" in shown
    assert "Nothing found." in chat("query", "zebra", *LIN, "--explain").out


def test_query_says_on_stderr_what_is_missing(chat: Shell) -> None:
    ended = chat("query", "电脑", *LIN)
    assert "vectors" in ended.err
    assert "vectors" not in ended.out


def test_query_takes_filters(chat: Shell) -> None:
    assert chat.ask("query", "budget", *LIN, "--filter", "role=user")["raw_chunks"] == []
    both = chat.ask("query", "budget", *LIN, "--filter", "role=user", "--filter", "role=assistant")
    assert both["raw_chunks"][0]["role"] == "assistant"


def test_query_keeps_to_the_time_that_is_asked_for(chat: Shell) -> None:
    answer = chat.ask("query", "what did I say today?", *LIN)
    assert len(answer["raw_chunks"]) == len(CHAT)
    assert answer["context"]["narrowed"]["words"] == "today"
    shown = chat("query", "what did I say last week?", *LIN, "--timezone", "Asia/Shanghai").out
    assert "only what was said in the time asked for: last week (" in shown
    assert "Nothing found." in shown


def test_history_reads_the_record_back_page_by_page(chat: Shell) -> None:
    first = chat.ask("history", *LIN, "--limit", "2")
    rest = chat.ask("history", *LIN, "--limit", "2", "--after", first["next"])
    assert [message["seq"] for message in first["items"] + rest["items"]] == [3, 2, 1]
    assert rest["next"] is None
    assert [message["seq"] for message in chat.ask("history", *LIN, "--order", "oldest")["items"]] == [1, 2, 3]
    assert [message["seq"] for message in chat.ask("history", *LIN, "--search", "笔记本")["items"]] == [1]


def test_what_was_said_cannot_steer_the_terminal(shell: Shell) -> None:
    shell("ingest", shell.write("bad.jsonl", r'{"role": "user", "content": "[red]\u001b[31mboo\u0007"}'))
    shown = shell("history").out
    assert "[red]�[31mboo�" in shown
    assert "\x1b" not in shown


def test_a_memory_item_lives_from_add_to_delete(shell: Shell) -> None:
    item = shell.ask("memories", "add", "Lin likes tea", *LIN, "--kind", "preference", "--metadata", "mood=calm")
    assert (item["revision"], item["kind"], item["metadata"]) == (1, "preference", {"mood": "calm"})
    revised = shell.ask("memories", "revise", item["id"], *LIN, "--text", "Lin likes coffee", "--importance", "0.9")
    assert (revised["revision"], revised["text"], revised["importance"]) == (2, "Lin likes coffee", 0.9)
    assert shell.ask("memories", "get", item["id"], *LIN) == revised
    assert [one["id"] for one in shell.ask("memories", "list", *LIN, "--filter", "kind=preference")["items"]] == [
        item["id"]
    ]
    assert shell.ask("memories", "list")["items"] == []
    versions = shell.ask("memories", "versions", item["id"], *LIN)
    assert [one["text"] for one in versions["items"]] == ["Lin likes tea", "Lin likes coffee"]
    assert shell.ask("memories", "delete", item["id"], *LIN) == {"id": item["id"], "deleted": True}
    assert shell("memories", "get", item["id"], *LIN).code == 3


def test_people_see_memory_items_as_tables(shell: Shell) -> None:
    added = shell("memories", "add", "林喜欢茶", *LIN, "--valid-until", "2030-01-01T00:00:00Z").out.strip()
    assert "林喜欢茶" in shell("memories", "list", *LIN).out
    assert "2030-01-01" in shell("memories", "get", added, *LIN).out
    assert "林喜欢茶" in shell("memories", "versions", added, *LIN).out


def test_stats_count_a_tenant_or_everything(chat: Shell) -> None:
    assert chat.ask("stats")["messages"] == 3
    assert chat.ask("stats", "--tenant", "nobody")["messages"] == 0
    assert "the whole store" in chat("stats").out


@pytest.mark.parametrize("view", ["index", "window"])
def test_rebuild_loses_nothing(chat: Shell, view: str) -> None:
    before = chat.ask("query", "电脑", *LIN)["raw_chunks"]
    done = chat.ask("rebuild", "--view", view)
    assert done["done"] == done["total"] > 0
    assert chat("rebuild", "--view", view).out == f"The {view} is rebuilt.\n"
    assert [chunk["id"] for chunk in chat.ask("query", "电脑", *LIN)["raw_chunks"]] == [chunk["id"] for chunk in before]


def test_api_keys_are_shown_once_and_revoked(shell: Shell) -> None:
    tenant, operator = shell.ask("keys", "add", "acme"), shell.ask("keys", "add", "--operator")
    listed = shell("keys", "list", "--json")
    assert tenant["token"].split("_", 2)[2] not in listed.out
    assert {one["id"]: (one["tenant"], one["operator"]) for one in listed.document["items"]} == {
        tenant["id"]: ("acme", False),
        operator["id"]: (None, True),
    }
    assert shell.ask("keys", "revoke", tenant["id"]) == {"id": tenant["id"], "revoked": True}
    assert shell("keys", "revoke", tenant["id"]).code == 3
    assert "tenant acme" in shell("keys", "list").out


def test_the_demo_recalls_in_both_languages(shell: Shell) -> None:
    chinese, english = shell.ask("demo")["sessions"]
    assert "过敏" in chinese["recalled"]["raw_chunks"][0]["text"]
    assert any("backup" in chunk["text"] for chunk in english["recalled"]["raw_chunks"])
    assert all(len(session["recorded"]) == 5 for session in (chinese, english))
    shown = shell("demo").out
    assert "相关记忆" in shown
    assert "Relevant memories" in shown
    assert not (shell.folder / "memory").exists()


def test_the_version_is_printed(shell: Shell) -> None:
    assert shell("--version").out == shell("version").out == f"{__version__}\n"
    assert shell.ask("version") == {"version": __version__}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(shell: Shell, command: str) -> None:
    ended = shell(command, "--help")
    assert ended.code == 0
    assert "--json" in ended.out or "COMMAND" in ended.out


def test_without_a_command_the_help_is_shown(shell: Shell) -> None:
    assert shell().out == shell("--help").out
    assert all(about in shell("--help").out for about in COMMANDS.values())
