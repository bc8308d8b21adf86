"""The window, under a clock that the test turns."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from rememberd.settings import load_settings
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from pathlib import Path

    from rememberd.model import Message


def _texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.content for message in messages]


def test_it_holds_the_last_twenty_messages_oldest_first(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest([f"message {i}" for i in range(30)]))
    assert _texts(store.run(lin.window())) == [f"message {i}" for i in range(10, 30)]


def test_it_is_empty_when_it_was_not_used_for_an_hour(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("hello"))
    store.clock.forward(minutes=60)
    assert _texts(store.run(lin.window())) == ["hello"]
    store.catch_up()
    store.clock.forward(minutes=60, seconds=1)
    assert store.run(lin.window()) == ()


def test_reading_it_is_using_it(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("hello"))
    for _ in range(5):
        store.clock.forward(minutes=50)
        assert _texts(store.run(lin.window())) == ["hello"]
        store.catch_up()


def test_after_the_ttl_a_message_begins_a_new_session(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("yesterday"))
    store.clock.forward(hours=20)
    store.run(lin.ingest("today"))
    assert _texts(store.run(lin.window())) == ["today"]


def test_resume_brings_the_old_session_back_and_keeps_it(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest(["one", "two"]))
    store.clock.forward(days=3)
    assert store.run(lin.window()) == ()
    assert _texts(store.run(lin.window(resume=True))) == ["one", "two"]
    store.run(lin.ingest("three"))
    assert _texts(store.run(lin.window())) == ["one", "two", "three"]


def test_resume_reaches_behind_a_session_that_has_begun(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("yesterday"))
    store.clock.forward(hours=20)
    store.run(lin.ingest("today"))
    assert _texts(store.run(lin.window(resume=True))) == ["yesterday", "today"]


def test_a_system_message_is_recorded_and_never_in_the_window(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    lin = store.memory.of(user="lin", thread="t")
    with caplog.at_level(logging.INFO, "rememberd"):
        store.run(lin.ingest([{"role": "system", "content": "be kind"}]))
    assert store.run(lin.window()) == ()
    assert [message.role for message in store.run(lin.history()).items] == ["system"]
    logged = [record for record in caplog.records if record.message == "window_not_grown"]
    assert "only system messages" in logged[0].fields["reason"]  # type: ignore[attr-defined]


def test_another_users_thread_reads_as_empty_and_refuses_to_be_written(store: Store) -> None:
    store.run(store.memory.of(user="lin", thread="t").ingest("mine"))
    assert store.run(store.memory.of(user="mei", thread="t").window()) == ()
    assert store.run(store.memory.of(thread="t").window()) == ()


def test_tenants_with_the_same_thread_do_not_meet(store: Store) -> None:
    one, other = (store.memory.of(tenant=tenant, user="lin", thread="t") for tenant in ("acme", "Acme"))
    store.run(one.ingest("of acme"))
    store.run(other.ingest("of Acme"))
    assert _texts(store.run(one.window())) == ["of acme"]
    assert _texts(store.run(other.window())) == ["of Acme"]


@pytest.mark.parametrize("kind", ["folder", pytest.param("postgresql", marks=pytest.mark.integration)])
def test_a_rebuilt_window_equals_the_old_one(kind: str, tmp_path: Path) -> None:
    store = Store(kind, tmp_path / "memory", plain_settings())
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("long ago"))
    store.clock.forward(hours=2)
    store.run(lin.ingest([f"message {i}" for i in range(25)]))
    store.clock.forward(minutes=59)
    before = store.run(lin.window())
    store.catch_up()
    store.clock.forward(minutes=59)

    async def rebuild() -> None:
        async for _ in store.memory.operate.rebuild("window"):
            pass

    store.run(rebuild())
    assert store.run(lin.window()) == before
    store.catch_up()
    store.clock.forward(minutes=59)
    store.reopen()
    assert store.run(store.memory.of(user="lin", thread="t").window()) == before
    store.close()


def test_a_tenant_has_its_own_size_and_ttl(tmp_path: Path) -> None:
    file = tmp_path / "memory.yaml"
    file.write_text("window: {size: 4}\ntenants:\n  acme: {window: {size: 2, ttl: 60}}\n", encoding="utf-8")
    store = Store("reference", tmp_path, load_settings(file, environment={}, dotenv=None))
    acme, other = (store.memory.of(tenant=tenant, thread="t") for tenant in ("acme", "other"))
    for handle in (acme, other):
        store.run(handle.ingest(["1", "2", "3", "4", "5"]))
    assert _texts(store.run(acme.window())) == ["4", "5"]
    assert _texts(store.run(other.window())) == ["2", "3", "4", "5"]
    store.clock.forward(seconds=61)
    assert store.run(acme.window()) == ()
    assert len(store.run(other.window())) == 4
    store.close()
