"""Who sees what: every combination of bound and unbound fields."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from rememberd.errors import NotFound, ThreadTaken
from rememberd.model import Query, Scope

if TYPE_CHECKING:
    from tests.conftest import Store

USERS = (None, "lin", "mei")
AGENTS = (None, "seller", "critic")
THREADS = (None, "t-1", "t-2")

ADDRESSES = [Scope("acme", *bound) for bound in itertools.product(USERS, AGENTS, THREADS)]


def _may_see(reader: Scope, owner: Scope) -> bool:
    """The rule, written down once more: bound fields must be equal, unbound ones are shared; threads do not bound."""
    users = owner.user is None or owner.user == reader.user
    agents = owner.agent is None or owner.agent == reader.agent
    return users and agents


def test_every_combination_of_bound_and_unbound_fields(store: Store) -> None:
    items = {}
    for i, owner in enumerate(ADDRESSES):
        items[owner] = store.run(store.memory.add(owner, f"the umbrella number {i}"))
    for reader in ADDRESSES:
        expected = {item.id for owner, item in items.items() if _may_see(reader, owner)}
        recalled = store.run(store.memory.query(reader, "umbrella", k=100))
        listed = store.run(store.memory.list(reader, limit=100))
        assert {hit.id for hit in recalled.raw} == expected, reader
        assert {item.id for item in listed.items} == expected, reader


def test_an_item_out_of_sight_cannot_be_read_revised_or_deleted(store: Store) -> None:
    item = store.run(store.memory.add(Scope("acme", "lin"), "a secret"))
    for stranger in (Scope("acme", "mei"), Scope("acme"), Scope("other", "lin"), Scope("default", "lin")):
        for attempt in (
            store.memory.get(stranger, item.id),
            store.memory.versions(stranger, item.id),
            store.memory.revise(stranger, item.id, text="changed"),
            store.memory.delete(stranger, item.id),
        ):
            with pytest.raises(NotFound):
                store.run(attempt)
    assert store.run(store.memory.get(Scope("acme", "lin"), item.id)).revision == 1


def test_history_is_bounded_by_user_agent_and_thread(store: Store) -> None:
    for user, agent in itertools.product(USERS, AGENTS):
        thread = f"thread of {user} {agent}"
        store.run(store.memory.ingest(Scope("acme", user, agent, thread), f"said by {user} to {agent}"))
    for user, agent in itertools.product(USERS, AGENTS):
        reader = Scope("acme", user, agent)
        expected = {
            f"said by {u} to {a}" for u, a in itertools.product(USERS, AGENTS) if _may_see(reader, Scope("acme", u, a))
        }
        assert {message.content for message in store.run(store.memory.history(reader)).items} == expected
        found = store.run(store.memory.history(reader, search="said"))
        assert {message.content for message in found.items} == expected
        own = store.run(store.memory.history(reader.within(f"thread of {user} {agent}"))).items
        assert [message.content for message in own] == [f"said by {user} to {agent}"]


def test_a_thread_belongs_to_the_user_of_its_first_message(store: Store) -> None:
    store.run(store.memory.ingest(Scope("acme", "lin", thread="t"), "mine"))
    for stranger in (Scope("acme", "mei", thread="t"), Scope("acme", thread="t")):
        with pytest.raises(ThreadTaken):
            store.run(store.memory.ingest(stranger, "not mine"))
        assert store.run(store.memory.history(stranger)).items == ()
    store.run(store.memory.ingest(Scope("other", "mei", thread="t"), "another tenant's thread"))


def test_the_operator_sees_all_users_of_one_tenant(store: Store) -> None:
    for tenant, user in (("acme", "lin"), ("acme", "mei"), ("other", "lin")):
        store.run(store.memory.ingest(Scope(tenant, user), f"umbrella of {user} at {tenant}"))

    async def ask() -> set[str]:
        with_everyone = await store.memory.operate.query("acme", Query(text="umbrella"))
        return {hit.text for hit in with_everyone.raw}

    assert store.run(ask()) == {"umbrella of lin at acme", "umbrella of mei at acme"}
