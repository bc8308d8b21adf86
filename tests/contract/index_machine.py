"""Random documents and searches on the reference index and another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from rememberd.backends.reference import ReferenceIndex
from rememberd.conformance.samples import unit
from rememberd.conformance.trial import moment
from rememberd.model import Filters, Scope
from rememberd.ports.index import Document, Embedded, Gone, Search

from .comparison import AGENTS, USERS

if TYPE_CHECKING:
    from rememberd.conformance import IndexPlace

    from .conftest import Drive

LANES = ("en", "zh")
TERMS = ("tea", "teas", "茶", "绿茶", "cup")
ADDRESS: dict[str, Any] = {
    "tenant": st.sampled_from(["acme", "other"]),
    "noun": st.sampled_from(["message", "memory"]),
    "id": st.sampled_from(["1", "2", "3"]),
}
VECTORS = st.dictionaries(
    st.sampled_from(LANES),
    st.sampled_from([unit(1, 0, 0), unit(0.6, 0.8, 0), unit(-1, 1, 2), unit(0, 0, 1) + unit(1, 0, 1)]),
)


class IndexMachine(RuleBasedStateMachine):
    """Documents come, change and go; what is found, and the statistics, are compared; orders and cosines nearly."""

    def __init__(self, drive: Drive, place: IndexPlace) -> None:
        super().__init__()
        self.drive = drive
        self.place = place
        self.reference = ReferenceIndex()
        self.other = drive(place.open_index())
        self.position = 0
        drive(self.other.clear())

    @rule(
        changes=st.lists(
            st.builds(
                Document,
                **ADDRESS,
                user=st.sampled_from(USERS),
                agent=st.sampled_from(AGENTS),
                thread=st.none(),
                kind=st.sampled_from(["message", "fact"]),
                role=st.sampled_from([None, "user"]),
                topic=st.sampled_from([None, "tea"]),
                domain=st.none(),
                source=st.none(),
                at=st.integers(0, 10).map(moment),
                terms=st.lists(st.sampled_from(TERMS), max_size=4).map(tuple),
                metadata=st.sampled_from([{}, {"n": 1}, {"n": ["1"]}]),
                vectors=VECTORS,
            )
            | st.builds(Embedded, **ADDRESS, vectors=VECTORS)
            | st.builds(Gone, **ADDRESS),
            max_size=5,
        )
    )
    def apply(self, changes: list[Document | Embedded | Gone]) -> None:
        self.position += len(changes)
        for index in (self.reference, self.other):
            self.drive(index.apply(changes, self.position))

    @rule()
    def reopen(self) -> None:
        self.drive(self.other.close())
        self.other = self.drive(self.place.open_index())
        if self.drive(self.other.watermark()) != self.position:
            assert self.drive(self.other.watermark()) == 0
            self.drive(self.reference.clear())
            self.position = 0

    @rule()
    def clear(self) -> None:
        self.position = 0
        for index in (self.reference, self.other):
            self.drive(index.clear())

    @rule(
        scope=st.builds(Scope, st.just("acme"), st.sampled_from(USERS), st.sampled_from(AGENTS)),
        everyone=st.booleans(),
        filters=st.sampled_from([Filters(), Filters(kind=("fact",)), Filters(topic=("tea",), metadata={"n": ("1",)})]),
        terms=st.lists(st.sampled_from(TERMS), max_size=3).map(tuple),
        match=st.sampled_from(["any", "all"]),
        vectors=st.dictionaries(st.sampled_from(LANES), st.sampled_from([unit(1, 0, 0), unit(0, 1, 1)])),
        limit=st.sampled_from([1, 3, 200]),
    )
    def search(
        self,
        scope: Scope,
        everyone: bool,
        filters: Filters,
        terms: tuple[str, ...],
        match: Any,
        vectors: dict[str, bytes],
        limit: int,
    ) -> None:
        search = Search(
            scope=scope, filters=filters, terms=terms, match=match, vectors=vectors, limit=200, everyone=everyone
        )
        expected, found = (self.drive(index.search(search)) for index in (self.reference, self.other))
        cosines = {(each.noun, each.id): each.cosine for each in expected.found}
        assert {(each.noun, each.id) for each in found.found} == set(cosines)
        evidence = {(each.noun, each.id): (each.counts, each.length, each.seconds) for each in expected.found}
        assert {(each.noun, each.id): (each.counts, each.length, each.seconds) for each in found.found} == evidence
        for each in found.found:
            assert each.cosine == pytest.approx(cosines[each.noun, each.id], abs=0.02)
        assert (found.watermark, found.documents) == (expected.watermark, expected.documents)
        assert found.average_length == pytest.approx(expected.average_length)
        assert all(found.frequencies.get(term, 0) == expected.frequencies[term] for term in terms)
        few = self.drive(self.other.search(replace(search, limit=limit)))
        assert len(few.found) == min(limit, len(cosines))
        assert {(each.noun, each.id) for each in few.found} <= set(cosines)

    def teardown(self) -> None:
        self.drive(self.other.close())
