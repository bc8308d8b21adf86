"""A read sees what is bound to its user and agent and what is shared with them; never anyone else's."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest

from rememberd.model import Scope

if TYPE_CHECKING:
    import httpx2

    from .conftest import House

WORD = "teapot"

#: Names that a careless key or pattern would mix up: prefixes, case, separators, wildcards, paths, Unicode twins.
NAMES = [
    "a", "A", "ab", "b", "c", "a:b", "b:c", "a:b:c", "a/b", "..", ".", "a.b", "a%", "%61", "a_", "_", "*", "?", "%",
    "a'b", 'a"b', "a\\", "a b", "a+b", "a&b", "é", "e\u0301", "ａ", "а", "İ", "i\u0307", "ß", "ss", "中", "none",
    "null",
]  # fmt: skip

TENANTS = ["a", "A", "ab", "a:b", "a/b", "..", "a%", "*", "é", "e\u0301", "ａ", "а"]

SIGHTS = list(itertools.product([None, "u1", "u2"], [None, "a1", "a2"]))


def _bound(**fields: str | None) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}


def _owner(user: str | None, agent: str | None) -> str:
    return f"{user}/{agent}"


@pytest.mark.parametrize(("user", "agent"), SIGHTS)
def test_a_scope_sees_its_own_and_what_is_shared_with_it(house: House, user: str | None, agent: str | None) -> None:
    for number, (u, a) in enumerate(SIGHTS):
        bound = _bound(user=u, agent=a)
        house.post("/v1/memories", {**bound, "text": f"{WORD} of {_owner(u, a)}", "source": _owner(u, a)})
        said = {"role": "user", "content": WORD, "metadata": {"owner": _owner(u, a)}}
        house.post("/v1/ingest", {**bound, "thread": f"t{number}", "messages": [said]})
    expected = {_owner(u, a) for u, a in SIGHTS if Scope(user=user, agent=agent).sees(u, a)}
    bound = _bound(user=user, agent=agent)
    listed = {item["source"] for item in house.get("/v1/memories", params=bound).json()["items"]}
    spoken = {message["metadata"]["owner"] for message in house.get("/v1/history", params=bound).json()["items"]}
    chunks = house.post("/v1/query", {**bound, "query": WORD, "k": 100, "floor": 0}).json()["raw_chunks"]
    recalled = {chunk["source"] or chunk["metadata"]["owner"] for chunk in chunks}
    assert listed == spoken == recalled == expected


class Intruder:
    """Writes and reads at random among names that look alike, and notes what it should not have seen."""

    def __init__(self, house: House, chance: random.Random) -> None:
        self._house = house
        self._chance = chance
        self._threads: dict[tuple[str, str], str | None] = {}
        self._memories: list[tuple[Scope, str]] = []
        self.leaks: list[str] = []
        self.seen = 0

    def attempt(self) -> None:
        scope = self._anywhere()
        action = self._chance.choice(
            [self._ingest, self._add, self._history, self._window, self._query, self._list, self._get, self._revise]
        )
        action(scope)

    def _anywhere(self) -> Scope:
        name = self._chance.choice
        return Scope(name(TENANTS), name([None, name(NAMES)]), name([None, None, name(NAMES)]), name(NAMES))

    def _ingest(self, scope: Scope) -> None:
        said = {"role": "user", "content": f"{WORD} here", "metadata": _mark(scope)}
        answer = self._house.post("/v1/ingest", {**_fields(scope), "messages": [said]})
        owner = self._threads.setdefault((scope.tenant, str(scope.thread)), scope.user)
        assert answer.status_code == (201 if owner == scope.user else 409), answer.text

    def _add(self, scope: Scope) -> None:
        body = {**_fields(scope), "text": f"{WORD} kept", "metadata": _mark(scope)}
        self._memories.append((scope, self._house.post("/v1/memories", body).json()["id"]))

    def _history(self, scope: Scope) -> None:
        self._check(scope, self._house.get("/v1/history", params=_fields(scope)).json()["items"])

    def _window(self, scope: Scope) -> None:
        self._check(scope, self._house.get("/v1/window", params=_fields(scope)).json()["items"])

    def _query(self, scope: Scope) -> None:
        answer = self._house.post("/v1/query", {**_fields(scope), "query": WORD, "k": 50, "floor": 0}).json()
        items = [item for item in answer["context"]["items"] if not isinstance(item, str)]
        self._check(scope, [*answer["raw_chunks"], *items])

    def _list(self, scope: Scope) -> None:
        self._check(scope, self._house.get("/v1/memories", params=_fields(scope)).json()["items"])

    def _get(self, scope: Scope) -> None:
        self._touch(scope, "GET")

    def _revise(self, scope: Scope) -> None:
        self._touch(scope, "PATCH", json={"topic": "touched"})

    def _touch(self, scope: Scope, method: str, **request: Any) -> None:
        """Reach for a memory item of anyone's by its id."""
        if not self._memories:
            return
        owner, memory_id = self._chance.choice(self._memories)
        answer: httpx2.Response = self._house.call(
            method, f"/v1/memories/{memory_id}", params=_fields(scope), **request
        )
        visible = owner.tenant == scope.tenant and scope.sees(owner.user, owner.agent)
        if answer.status_code != (200 if visible else 404):
            self.leaks.append(f"{method} {owner} from {scope}: {answer.status_code}")

    def _check(self, scope: Scope, items: list[dict[str, Any]]) -> None:
        for item in items:
            self.seen += 1
            mark = item["metadata"]
            if mark["tenant"] != scope.tenant or not scope.sees(mark.get("user"), mark.get("agent")):
                self.leaks.append(f"{mark} from {scope}")


def _fields(scope: Scope) -> dict[str, str]:
    return _bound(tenant=scope.tenant, user=scope.user, agent=scope.agent, thread=scope.thread)


def _mark(scope: Scope) -> dict[str, str]:
    return _bound(tenant=scope.tenant, user=scope.user, agent=scope.agent)


@pytest.mark.slow
def test_nothing_leaks_between_names_that_look_alike(house: House) -> None:
    intruder = Intruder(house, random.Random(7))
    for _ in range(5000):
        intruder.attempt()
    assert intruder.leaks == []
    assert intruder.seen > 1000
