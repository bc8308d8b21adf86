"""The operator's hands: dead letters listed, shown, replayed and discarded; in Python, over HTTP, by command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from rememberd.client import RemoteEngine
from rememberd.errors import AccessDenied, NotFound
from rememberd.memory import Memory
from rememberd.model import Actor
from rememberd.server import Gate, create_app
from tests.cli.conftest import Shell, shell

from .outage import cured, drained, locked, poisoned, quick_store

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from pathlib import Path

    from tests.conftest import Store

__all__ = ["shell"]

POISON = "NEW.content LIKE 'poison%'"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with two dead letters, ``poison 0`` and ``poison 1``, and nothing that waits."""
    made = quick_store(tmp_path / "memory", failure_queue__max_attempts=2)
    _poison(made)
    yield made
    made.close()


def _poison(store: Store) -> None:
    with locked(store.folder, POISON):
        for i in range(2):
            store.run(store.memory.of(tenant="acme", user="lin", thread=f"t-{i}").ingest([f"poison {i}", "and more"]))
    drained(store)
    cured(store.folder)


@pytest.fixture(params=["local", "remote"])
def memory(request: pytest.FixtureRequest, store: Store) -> Memory:
    if request.param == "local":
        return store.memory
    app = create_app(store.opened.engine, gate=Gate(keyless=True))
    return Memory(RemoteEngine("http://localhost", transport=httpx2.ASGITransport(app)))


def test_failures_are_listed_with_their_reason_and_without_their_content(store: Store, memory: Memory) -> None:
    page = store.run(memory.operate.failures())
    assert [(each.state, each.tenant, each.user, each.thread) for each in page.items] == [
        ("dead", "acme", "lin", "t-0"),
        ("dead", "acme", "lin", "t-1"),
    ]
    first = page.items[0]
    assert (first.action, first.count, first.attempts, first.reason) == ("ingest", 2, 2, "storage_unavailable")
    assert first.last_at is not None
    assert first.last_at >= first.first_at
    assert first.messages == ()
    one = store.run(memory.operate.failures("dead", limit=1))
    two = store.run(memory.operate.failures("dead", limit=1, after=one.next))
    assert (*one.items, *two.items) == page.items
    assert two.next is None
    assert store.run(memory.operate.failures("waiting")).items == ()


def test_one_is_shown_with_its_messages(store: Store, memory: Memory) -> None:
    first = store.run(memory.operate.failures()).items[0]
    shown = store.run(memory.operate.failure(first.id))
    assert [message.content for message in shown.messages] == ["poison 0", "and more"]
    with pytest.raises(NotFound):
        store.run(memory.operate.failure("no-such-id"))


def test_a_replayed_letter_is_recorded_once_the_cause_is_gone(store: Store, memory: Memory) -> None:
    first = store.run(memory.operate.failures()).items[0]
    assert store.run(memory.operate.replay_failures(first.id)) == 1
    drained(store)
    page = store.run(store.memory.of(tenant="acme", user="lin").history(order="oldest"))
    assert [message.content for message in page.items] == ["poison 0", "and more"]
    assert store.run(memory.operate.replay_failures()) == 1
    drained(store)
    assert store.run(memory.operate.failures()).items == ()
    with pytest.raises(NotFound):
        store.run(memory.operate.replay_failures(first.id))


def test_a_letter_replayed_too_early_dies_again_and_is_not_lost(store: Store) -> None:
    poisoned(store.folder, POISON)
    assert store.run(store.memory.operate.replay_failures()) == 2
    drained(store)
    dead = store.run(store.memory.operate.failures("dead")).items
    assert [each.thread for each in dead] == ["t-0", "t-1"]


def test_a_discarded_letter_is_gone(store: Store, memory: Memory) -> None:
    first, second = store.run(memory.operate.failures()).items
    assert store.run(memory.operate.discard_failure(first.id))
    assert not store.run(memory.operate.discard_failure(first.id))
    assert store.run(memory.operate.failures()).items == (second,)
    store.reopen()
    assert store.run(store.memory.operate.failures()).items == (second,)


def test_what_waits_is_listed_too(store: Store, memory: Memory) -> None:
    with locked(store.folder):
        store.run(store.memory.of(user="mei", thread="t").ingest("waits"))
        [waiting] = store.run(memory.operate.failures("waiting")).items
        assert (waiting.thread, waiting.attempts, waiting.reason) == ("t", 0, None)
        assert store.run(memory.operate.failure(waiting.id)).messages[0].content == "waits"
        assert [each.state for each in store.run(memory.operate.failures()).items] == ["dead", "dead", "waiting"]


def test_replaying_and_discarding_are_noted(store: Store, memory: Memory) -> None:
    first = store.run(memory.operate.failures()).items[0]
    store.run(memory.operate.replay_failures(first.id))
    store.run(memory.operate.discard_failure(first.id))
    noted = store.run(memory.operate.audit("*")).items
    assert [(note.action, note.detail) for note in noted] == [
        ("failures.discard", {"failure": first.id}),
        ("failures.replay", {"failure": first.id}),
    ]


def test_only_the_operator_may(store: Store) -> None:
    tenants = store.opened.engine.acting_as(Actor("acme's", tenant="acme")).operate
    calls: list[Callable[[], Coroutine[Any, Any, Any]]] = [
        tenants.failures,
        lambda: tenants.failure("x"),
        tenants.replay_failures,
        lambda: tenants.discard_failure("x"),
    ]
    for call in calls:
        with pytest.raises(AccessDenied):
            store.run(call())


def _without_a_server(store: Store) -> None:
    """Let go of the folder, so that commands open it themselves."""
    store.run(store.memory.close())


def test_the_commands_do_the_same(store: Store, shell: Shell) -> None:
    _without_a_server(store)
    data = ("--data", str(store.folder))
    listed = shell.ask("failures", "list", *data)["items"]
    assert [each["reason"] for each in listed] == ["storage_unavailable"] * 2
    assert "storage_unavailable" in shell("failures", "list", *data).out
    shown = shell.ask("failures", "show", listed[0]["id"], *data)
    assert [message["content"] for message in shown["messages"]] == ["poison 0", "and more"]
    assert "poison 0" in shell("failures", "show", listed[0]["id"], *data).out
    assert shell.ask("failures", "replay", listed[0]["id"], *data) == {"replayed": 1}
    assert shell.ask("failures", "discard", listed[1]["id"], *data)["discarded"]
    assert shell.ask("failures", "list", *data)["items"] == []
    assert "Nothing failed" in shell("failures", "list", *data).out
    history = shell.ask("history", "--tenant", "acme", "--user", "lin", *data)["items"]
    assert [message["content"] for message in history] == ["and more", "poison 0"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["replay"], 2),
        (["replay", "x", "--all"], 2),
        (["replay", "no-such-id"], 3),
        (["show", "no-such-id"], 3),
        (["discard", "no-such-id"], 3),
        (["list", "--limit", "0"], 5),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_commands_end_with_one_line_and_change_nothing(shell: Shell, arguments: list[str], code: int) -> None:
    ended: Any = shell("failures", *arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (code, "", 1)
