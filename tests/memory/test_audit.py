"""Audit: an entry with every call, content in none, and none in the logs."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING

import pytest

from rememberd.errors import Conflict, InvalidRequest
from rememberd.model import Query, Scope

if TYPE_CHECKING:
    from tests.conftest import Store


def _actions(store: Store, tenant: str | None = "default") -> list[str]:
    store.catch_up()
    return [entry.action for entry in store.run(store.memory.operate.audit(tenant)).items][::-1]


def test_every_call_leaves_an_entry(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest("hello"))
    store.run(lin.query("hello"))
    store.run(lin.history())
    item = store.run(lin.add("a fact"))
    store.run(lin.get(item.id))
    store.run(lin.revise(item.id, text="another fact"))
    store.run(lin.list())
    store.run(lin.versions(item.id))
    store.run(lin.delete(item.id))
    assert [action for action in _actions(store) if action != "memory.get"] == [
        "ingest", "query", "history", "memory.add", "memory.revise", "memory.list", "memory.versions",
        "memory.delete",
    ]  # fmt: skip


def test_the_entry_of_a_write_stands_or_falls_with_it(store: Store) -> None:
    store.run(store.memory.ingest(Scope(user="lin", thread="t"), "hello"))
    with pytest.raises(Conflict):
        store.run(store.memory.ingest(Scope(user="mei", thread="t"), "hello"))
    with pytest.raises(InvalidRequest):
        store.run(store.memory.ingest(Scope(user="mei", thread="t"), ""))
    assert _actions(store) == ["ingest"]


def test_an_operators_calls_are_noted_too(store: Store) -> None:
    key = store.run(store.memory.operate.add_api_key("acme"))
    store.run(store.memory.operate.revoke_api_key(key.id))
    store.run(store.memory.operate.query("acme", Query(text="anything")))
    assert _actions(store, None) == ["api_key.add", "api_key.revoke", "query"]


def test_a_thousand_planted_secrets_stand_in_no_log_and_in_no_audit_entry(
    store: Store, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    planted = [f"canary-{secrets.token_hex(8)}" for _ in range(1000)]
    lin = store.memory.of(user="lin", thread="t")
    for start in range(0, 1000, 100):
        batch = planted[start : start + 100]
        store.run(lin.ingest([{"role": "user", "content": c, "metadata": {"token": c}} for c in batch[:50]]))
        for canary in batch[50:70]:
            store.run(lin.add(canary, metadata={"token": canary}))
        for canary in batch[70:90]:
            store.run(lin.query(canary))
        for canary in batch[90:]:
            with pytest.raises(InvalidRequest):
                store.run(lin.ingest([{"role": "user", "content": f"{canary}\x00"}]))
    store.run(store.memory.settle(20))
    store.catch_up()
    entries, after = list[str](), None
    while True:
        page = store.run(store.memory.operate.audit(after=after, limit=1000))
        entries += [repr(entry) for entry in page.items]
        if (after := page.next) is None:
            break
    logged = "\n".join([*(str(vars(record)) for record in caplog.records), *capfd.readouterr(), *entries])
    assert [canary for canary in planted if canary in logged] == []
