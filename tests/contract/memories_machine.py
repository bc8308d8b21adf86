"""Random revisions, deletions and vectors on two places."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from rememberd.conformance.samples import floats
from rememberd.model import Filters, MemoryItem, Scope
from rememberd.ports.holdings import Put
from rememberd.ports.records import Append, Entry
from rememberd.ports.vectors import PutVectors, Vector

from .comparison import AGENTS, DIGESTS, KEYS, TTL, USERS, Comparison, Side

MEMORIES = ("m1", "M1", "记忆")
LANES = ("en", "zh")
FILTERS = (
    Filters(),
    Filters(kind=("fact",)),
    Filters(topic=("tea", "cup"), kind=("fact", "note")),
    Filters(metadata={"n": ("1", "true")}),
    Filters(metadata={"n": ("2.5",)}, topic=("tea",)),
)


class MemoriesMachine(Comparison):
    """Puts, deletions and vectors; afterwards every item, list, moment and version is compared."""

    @rule(
        name=st.sampled_from(MEMORIES),
        ahead=st.sampled_from([1, 1, 1, 1, 0, 2]),
        owner=st.tuples(st.sampled_from(USERS), st.sampled_from(AGENTS)),
        kind=st.sampled_from(["fact", "note"]),
        topic=st.sampled_from([None, "tea", "cup"]),
        value=st.sampled_from([None, 1, "1", 2.5, True, ["1"], {"n": "1"}]),
        deleted=st.sampled_from([False, False, True]),
        life=st.sampled_from([None, None, 5]),
        key=KEYS,
        digest=DIGESTS,
        later=st.sampled_from([0, 1, 10]),
    )
    def put(
        self,
        name: str,
        ahead: int,
        owner: tuple[str | None, str | None],
        kind: str,
        topic: str | None,
        value: Any,
        deleted: bool,
        life: int | None,
        key: str | None,
        digest: bytes,
        later: int,
    ) -> None:
        self.seconds += later
        current = self.both(lambda side: side.storage.holdings.get(self.tenant, name))
        item = MemoryItem(
            id=name,
            revision=(current.revision if current else 0) + ahead,
            tenant=self.tenant,
            user=owner[0],
            agent=owner[1],
            thread=None,
            kind=kind,
            text=self.new_id(),
            source=None,
            importance=0.3,
            topic=topic,
            domain=None,
            at=self.now,
            revised_at=self.now,
            expires_at=None if life is None else self.now + timedelta(seconds=life),
            deleted=deleted,
            metadata={"n": value},
        )
        operation = Put(item=item, idempotency_key=key, digest=digest)
        self.both(lambda side: side.storage.write(operation))

    @rule(things=st.lists(st.tuples(st.sampled_from(MEMORIES), st.sampled_from(LANES)), max_size=3))
    def put_vectors(self, things: list[tuple[str, str]]) -> None:
        vectors = tuple(
            Vector(tenant=self.tenant, noun="memory", id=name, lane=lane, model="hash", data=floats(self.seconds, n))
            for n, (name, lane) in enumerate(things)
        )
        self.both(lambda side: side.storage.write(PutVectors(vectors=vectors)))

    @rule(key=st.sampled_from(["k1", "k2"]), digest=DIGESTS)
    def record_under_the_same_keys(self, key: str, digest: bytes) -> None:
        entry = Entry(
            id=self.new_id(), role="user", content="x", at=self.now, idempotency_key=key, digest=b"message " + digest
        )
        operation = Append(
            tenant=self.tenant,
            thread="t",
            user=None,
            agent=None,
            entries=(entry,),
            recorded_at=self.now,
            session_ttl=TTL,
        )
        self.both(lambda side: side.storage.write(operation))

    @rule()
    def reopen(self) -> None:
        self.drive(self.other.reopen())

    @rule(
        user=st.sampled_from(USERS),
        filters=st.sampled_from(FILTERS),
        rank=st.sampled_from([None, 1, 3, 99]),
        limit=st.integers(0, 3),
    )
    def page_list(self, user: str | None, filters: Filters, rank: int | None, limit: int) -> None:
        scope = Scope(self.tenant, user)
        self.both(
            lambda side: side.storage.holdings.list(
                scope, filters, after=side.position(rank), limit=limit, now=self.now
            )
        )

    @rule(ago=st.integers(0, 30))
    def look_back(self, ago: int) -> None:
        moment = self.now - timedelta(seconds=ago)

        async def then(side: Side) -> list[object]:
            holdings = side.storage.holdings
            found = await holdings.get_many(self.tenant, MEMORIES, as_of=moment)
            seen = [await holdings.as_of(Scope(self.tenant, user, "seller"), moment, 100) for user in USERS]
            return [seen, sorted(found, key=lambda item: item.id)]

        self.both(then)

    @invariant()
    def everything_readable_is_the_same(self) -> None:
        self.both(self._everything)

    async def _everything(self, side: Side) -> list[object]:
        holdings, tenant = side.storage.holdings, self.tenant
        scopes = [(Scope(tenant, user, agent), Filters()) for user in USERS for agent in AGENTS]
        filtered = [(Scope(tenant, "lin", "seller"), filters) for filters in FILTERS]
        return [
            await side.changes(),
            await holdings.count(tenant),
            [await holdings.versions(tenant, name) for name in MEMORIES],
            sorted(await holdings.get_many(tenant, MEMORIES), key=lambda item: item.id),
            sorted(await side.storage.vectors.get(tenant, MEMORIES), key=lambda vector: (vector.id, vector.lane)),
            [
                await holdings.list(scope, filters, after=None, limit=100, now=self.now)
                for scope, filters in (*scopes, *filtered)
            ],
        ]
