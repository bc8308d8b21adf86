"""The promises of the index: it proposes what matches, to those who may see it, with the evidence."""

from __future__ import annotations

from typing import Any

from rememberd.model import Filters, Scope
from rememberd.ports.candidates import place_of
from rememberd.ports.index import Search

from . import expect
from .check import index_promise
from .samples import COSINE_ERROR, document, unit
from .trial import IndexTrial, moment


@index_promise
async def any_of_the_terms_or_all_of_them_match(trial: IndexTrial) -> None:
    await trial.index.apply(
        [
            document(trial.tenant, "green", "tea", id="a"),
            document(trial.tenant, "tea", "tea", id="b"),
            document(trial.tenant, "green", id="c"),
            document(trial.tenant, "teas", "teapot", id="d"),
        ],
        4,
    )
    expect.equal(sorted(await trial.ids("green", "tea")), ["a", "b", "c"])
    expect.equal(await trial.ids("green", "tea", match="all"), ["a"])
    expect.equal(await trial.ids("tea", "tea", "absent", match="all"), [])
    expect.equal(await trial.ids("absent"), [])


@index_promise
async def terms_match_whole_and_chinese_ones_too(trial: IndexTrial) -> None:
    terms = ("粉", "粉底", "底", "底液", "𠮷", "𠮷野", "ab", "abc", "bc", "1", "10", "and", "or", "not", "near")
    await trial.index.apply([document(trial.tenant, term, id=f"{n}") for n, term in enumerate(terms)], len(terms))
    for number, term in enumerate(terms):
        expect.equal((term, await trial.ids(term)), (term, [f"{number}"]))


@index_promise
async def every_match_is_proposed_while_there_is_room(trial: IndexTrial) -> None:
    many = [document(trial.tenant, "tea", id=f"{n:03}", at=moment(n)) for n in range(150)]
    await trial.index.apply([*many, document(trial.tenant, "coffee", id="other")], 151)
    expect.equal(sorted(await trial.ids("tea", limit=150)), [each.id for each in many])
    expect.equal(len(await trial.ids("tea", limit=20)), 20)
    expect.equal(len(set(await trial.ids("tea", limit=20))), 20)


@index_promise
async def others_matches_do_not_take_the_room(trial: IndexTrial) -> None:
    others = [document(trial.tenant, "tea", user="mei", id=f"{n}", at=moment(n)) for n in range(300)]
    mine = document(trial.tenant, "tea", id="mine", at=moment(-1), vectors={"en": unit(0, 1)})
    await trial.index.apply([*others, mine], 301)
    expect.equal(await trial.ids("tea", limit=1), ["mine"])
    expect.equal(await trial.ids(limit=1), ["mine"])
    expect.equal(await trial.ids(vectors={"en": unit(1, 0)}, limit=1), ["mine"])


@index_promise
async def a_scope_finds_its_own_and_the_shared_and_nobody_elses(trial: IndexTrial) -> None:
    owners = [(None, None), ("lin", None), ("mei", None), ("lin", "seller"), ("lin", "buyer"), (None, "seller")]
    vectors = {"en": unit(1, 0)}
    await trial.index.apply(
        [document(trial.tenant, "tea", id=f"{u}/{a}", user=u, agent=a, vectors=vectors) for u, a in owners], 6
    )
    expected = {
        Scope(trial.tenant): ["None/None"],
        Scope(trial.tenant, "lin"): ["None/None", "lin/None"],
        Scope(trial.tenant, "Lin"): ["None/None"],
        Scope(trial.tenant, "lin", "seller"): ["None/None", "None/seller", "lin/None", "lin/seller"],
        Scope(trial.tenant, "mei", "buyer", "another thread"): ["None/None", "mei/None"],
    }
    ways: tuple[dict[str, Any], ...] = ({"terms": ("tea",)}, {"vectors": vectors}, {})
    for scope, seen in expected.items():
        for way in ways:
            search = Search(**{"scope": scope, "filters": Filters(), "terms": (), **way})
            found = await trial.index.search(search)
            expect.equal((way, sorted(each.id for each in found.found)), (way, seen))


@index_promise
async def everyone_is_all_users_and_agents_of_the_tenant_alone(trial: IndexTrial) -> None:
    await trial.index.apply(
        [
            document(trial.tenant, "tea", id="lin", agent="seller"),
            document(trial.tenant, "tea", id="mei", user="mei"),
            document(trial.tenant + "-other", "tea", id="other"),
        ],
        3,
    )
    search = Search(scope=Scope(trial.tenant), filters=Filters(), terms=("tea",), everyone=True)
    expect.equal(sorted(each.id for each in (await trial.index.search(search)).found), ["lin", "mei"])


@index_promise
async def filters_narrow_every_way_of_searching(trial: IndexTrial) -> None:
    vectors = {"en": unit(1, 0)}
    common: dict[str, Any] = {"vectors": vectors}
    await trial.index.apply(
        [
            document(trial.tenant, "tea", id="a", topic="T", domain="d", source="s", metadata={"n": 1}, **common),
            document(trial.tenant, "tea", id="b", kind="fact", role=None, noun="memory", at=moment(5), **common),
            document(trial.tenant, "tea", id="c", role="assistant", thread="u", metadata={"n": "1"}, **common),
            document(trial.tenant, "tea", id="d", agent="seller", thread=None, metadata={"n": [1]}, **common),
        ],
        4,
    )
    expected = (
        (Filters(), "abcd"),
        (Filters(kind=("message",)), "acd"),
        (Filters(kind=("fact", "note")), "b"),
        (Filters(role=("user", "assistant")), "acd"),
        (Filters(thread=("u",)), "c"),
        (Filters(agent=("seller",)), "d"),
        (Filters(topic=("T", "t")), "a"),
        (Filters(topic=("t",)), ""),
        (Filters(domain=("d",), source=("s",)), "a"),
        (Filters(domain=("d",), source=("x",)), ""),
        (Filters(after=moment(5)), "b"),
        (Filters(before=moment(5)), "acd"),
        (Filters(metadata={"n": ("1",)}), "ac"),
        (Filters(metadata={"n": ("1",)}, role=("assistant",)), "c"),
    )
    scope = Scope(trial.tenant, "lin", "seller")
    ways: tuple[dict[str, Any], ...] = ({"terms": ("tea",)}, {"vectors": vectors}, {})
    for filters, ids in expected:
        for way in ways:
            found = await trial.index.search(Search(**{"scope": scope, "filters": filters, "terms": (), **way}))
            expect.equal((filters, way, "".join(sorted(each.id for each in found.found))), (filters, way, ids))


@index_promise
async def of_several_vectors_the_nearest_counts(trial: IndexTrial) -> None:
    several = b"".join((unit(-1, 0), unit(3, 4), unit(0, -1)))
    documents = [
        document(trial.tenant, "x", id="far", vectors={"en": unit(0, 1)}),
        document(trial.tenant, "x", id="several", vectors={"en": several}),
        document(trial.tenant, "x", id="near", vectors={"en": unit(1, 0)}),
    ]
    await trial.index.apply(documents, 1)
    found = (await trial.search(vectors={"en": unit(1, 0)})).found
    expect.equal([each.id for each in found], ["near", "several", "far"])
    for each, cosine in zip(found, (1.0, 0.6, 0.0), strict=True):
        _expect_near(each.cosine["en"], cosine)
    await trial.reopen()
    [best, *_] = (await trial.search(vectors={"en": unit(0, -1)})).found
    expect.equal(best.id, "several")


@index_promise
async def the_nearest_are_proposed_nearest_first_with_their_cosines(trial: IndexTrial) -> None:
    angles = {"near": (1.0, 0.1), "middle": (1.0, 1.0), "far": (-1.0, 0.2), "long": (8.0, 3.0)}
    documents = [document(trial.tenant, "x", id=name, vectors={"en": unit(*at)}) for name, at in angles.items()]
    await trial.index.apply([*documents, document(trial.tenant, "x", id="without")], 5)
    found = (await trial.search(vectors={"en": unit(1, 0)})).found
    expect.equal([each.id for each in found], ["near", "long", "middle", "far"])
    for each, cosine in zip(found, (0.995, 0.936, 0.707, -0.981), strict=True):
        _expect_near(each.cosine["en"], cosine)


@index_promise
async def lanes_are_compared_each_with_its_own(trial: IndexTrial) -> None:
    await trial.index.apply(
        [
            document(trial.tenant, id="both", vectors={"en": unit(1, 0), "zh": unit(0, 0, 1)}),
            document(trial.tenant, id="zh", vectors={"zh": unit(0, 1, 0)}),
            document(trial.tenant, id="other", vectors={"bridge": unit(1, 0)}),
        ],
        3,
    )
    found = (await trial.search(vectors={"en": unit(0, 1), "zh": unit(0, 0, 1)})).found
    cosines = {each.id: each.cosine for each in found}
    expect.equal({name: sorted(lanes) for name, lanes in cosines.items()}, {"both": ["en", "zh"], "zh": ["zh"]})
    _expect_near(cosines["both"]["en"], 0)
    _expect_near(cosines["both"]["zh"], 1)
    _expect_near(cosines["zh"]["zh"], 0)


@index_promise
async def words_and_vectors_take_turns_and_nothing_comes_twice(trial: IndexTrial) -> None:
    await trial.index.apply(
        [
            document(trial.tenant, "tea", id="word"),
            document(trial.tenant, "coffee", id="vector", vectors={"en": unit(1, 0)}),
            document(trial.tenant, "tea", id="both", vectors={"en": unit(0, 1)}),
            document(trial.tenant, "coffee", id="neither"),
        ],
        4,
    )
    found = (await trial.search("tea", vectors={"en": unit(1, 0)})).found
    expect.equal(sorted(each.id for each in found), ["both", "vector", "word"])
    expect.equal("vector" in [each.id for each in found[:2]], True)
    (both,) = (each for each in found if each.id == "both")
    _expect_near(both.cosine["en"], 0)


@index_promise
async def without_terms_and_vectors_the_latest_are_proposed(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "x", id=f"{n}", at=moment(n % 5)) for n in range(5)], 5)
    expect.equal(await trial.ids(), ["4", "3", "2", "1", "0"])
    expect.equal(await trial.ids(limit=2), ["4", "3"])


@index_promise
async def statistics_are_those_of_all_that_is_in_sight(trial: IndexTrial) -> None:
    await trial.index.apply(
        [
            document(trial.tenant, "tea", "tea", "cup", kind="fact"),
            document(trial.tenant, "cup"),
            document(trial.tenant, "tea", "cup", user="mei"),
            document(trial.tenant, "tea", "cup", agent="seller"),
            document(trial.tenant + "-other", "tea", user="mei"),
            document(trial.tenant, "word0", "word1"),
        ],
        6,
    )
    for filters in (Filters(), Filters(kind=("fact",))):
        found = await trial.search("tea", "cup", "absent", filters=filters)
        expect.equal((found.documents, found.average_length), (3, 2.0))
        expect.equal([found.frequencies.get(term, 0) for term in ("tea", "cup", "absent")], [1, 2, 0])


@index_promise
async def a_proposal_brings_its_evidence(trial: IndexTrial) -> None:
    said = {"thread": "t", "seq": 7, "at": moment(3), "role": "user", "name": "Lin"}
    held = document(trial.tenant, "tea", "cup", "tea", id="a", **said)
    await trial.index.apply([held, document(trial.tenant, "cup", id="b")], 2)
    (a, b) = sorted((await trial.search("absent", "tea", "cup")).found, key=lambda each: each.id)
    expect.equal((a.counts, a.length, b.counts, b.length), ((0, 2, 1), 3, (0, 0, 1), 1))
    expect.equal((a.place, a.name, a.kind), (place_of("t", 7), "Lin", held.kind))
    expect.equal(a.seconds, held.at.timestamp())


def _expect_near(actual: float, cosine: float) -> None:
    expect.true(abs(actual - cosine) <= COSINE_ERROR, f"expected a cosine near {cosine}, got {actual}")
