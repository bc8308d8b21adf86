"""The promises of the index: proposes what matches, to those who may see it. Cosines may be a little off, not more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rememberd.errors import Conflict
from rememberd.model import Filters, Scope
from rememberd.ports.candidates import Candidates, place_of
from rememberd.ports.index import Embedded, Gone, Search

from . import expect
from .check import index_promise
from .samples import document, unit
from .trial import IndexTrial, moment

if TYPE_CHECKING:
    from rememberd.ports.index import Document

#: How far a cosine may be off, where an engine keeps vectors in fewer bits.
COSINE_ERROR = 0.02


@index_promise
async def an_index_begins_empty(trial: IndexTrial) -> None:
    expect.equal(await trial.index.watermark(), 0)
    found = await _search(trial, "tea")
    expect.equal((found.found, found.documents, found.watermark), ((), 0, 0))


@index_promise
async def applying_moves_the_watermark(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea")], 7)
    expect.equal(await trial.index.watermark(), 7)
    await trial.index.apply([], 9)
    expect.equal(await trial.index.watermark(), 9)
    expect.equal((await _search(trial, "tea")).watermark, 9)


@index_promise
async def applying_again_changes_nothing(trial: IndexTrial) -> None:
    changes = [document(trial.tenant, "tea", id="a"), document(trial.tenant, "tea", id="b")]
    await trial.index.apply([*changes, Gone(trial.tenant, "message", "b")], 3)
    digest, found = await trial.index.digest(), await _search(trial, "tea")
    await trial.index.apply([*changes, Gone(trial.tenant, "message", "b")], 3)
    expect.equal(await trial.index.digest(), digest)
    expect.equal((await _search(trial, "tea")).found, found.found)


@index_promise
async def a_document_replaces_the_one_of_the_same_address(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea", "cup", id="a")], 1)
    await trial.index.apply([document(trial.tenant, "coffee", id="a")], 2)
    expect.equal(await _ids(trial, "tea"), [])
    found = await _search(trial, "coffee", "tea")
    expect.equal(([each.id for each in found.found], found.documents), (["a"], 1))
    expect.equal((found.average_length, found.frequencies.get("tea", 0), found.frequencies["coffee"]), (1.0, 0, 1))


@index_promise
async def documents_of_other_tenants_and_nouns_are_apart(trial: IndexTrial) -> None:
    await trial.index.apply(
        [
            document(trial.tenant, "tea", id="a"),
            document(trial.tenant, "tea", id="a", noun="memory"),
            document(trial.tenant + "-other", "tea", id="a"),
        ],
        3,
    )
    await trial.index.apply([Gone(trial.tenant, "message", "a")], 4)
    found = await _search(trial, "tea")
    expect.equal([(each.noun, each.id) for each in found.found], [("memory", "a")])
    expect.equal(await _ids(trial, "tea", tenant=trial.tenant + "-other"), ["a"])
    expect.equal(await _ids(trial, "tea", tenant=trial.tenant + "-absent"), [])


@index_promise
async def what_is_gone_is_not_found(trial: IndexTrial) -> None:
    vectors = {"en": unit(1, 0)}
    await trial.index.apply([document(trial.tenant, "tea", id="a", vectors=vectors)], 1)
    await trial.index.apply([Gone(trial.tenant, "message", "a"), Gone(trial.tenant, "message", "absent")], 2)
    expect.equal(await _ids(trial, "tea"), [])
    expect.equal(await _ids(trial, vectors=vectors), [])
    expect.equal(await _ids(trial), [])
    found = await _search(trial, "tea")
    expect.equal((found.documents, found.frequencies.get("tea", 0)), (0, 0))


@index_promise
async def vectors_come_later_and_take_the_place_of_others(trial: IndexTrial) -> None:
    east, north = {"en": unit(1, 0)}, {"en": unit(0, 1)}
    await trial.index.apply([document(trial.tenant, "tea", id="a"), document(trial.tenant, "tea", id="b")], 2)
    expect.equal(await _ids(trial, vectors=east), [])
    await trial.index.apply([Embedded(trial.tenant, "message", "a", east), document(trial.tenant, id="c")], 4)
    expect.equal(await _ids(trial, vectors=east), ["a"])
    expect.equal(sorted(await _ids(trial, "tea")), ["a", "b"])
    await trial.index.apply([Embedded(trial.tenant, "message", "a", {"zh": unit(1, 0), **north})], 5)
    found = await _search(trial, vectors={"zh": unit(1, 0), **north})
    expect.equal([(each.id, len(each.cosine)) for each in found.found], [("a", 2)])
    expect.true(min(found.found[0].cosine.values()) > 1 - COSINE_ERROR, "both vectors are those that came last")
    await trial.index.apply([Embedded(trial.tenant, "message", "a", {})], 6)
    expect.equal((await _ids(trial, vectors=north), sorted(await _ids(trial, "tea"))), ([], ["a", "b"]))


@index_promise
async def vectors_of_what_is_not_held_are_nothing(trial: IndexTrial) -> None:
    east = {"en": unit(1, 0)}
    await trial.index.apply([document(trial.tenant, "tea", id="a")], 1)
    before = await trial.index.digest()
    await trial.index.apply([Embedded(trial.tenant, "message", "b", east), Embedded("other", "memory", "a", east)], 3)
    expect.equal(await trial.index.digest(), before)
    await trial.index.apply([document(trial.tenant, "tea", id="b")], 4)
    expect.equal(await _ids(trial, vectors=east), [])


@index_promise
async def vectors_that_come_later_are_as_good_as_those_that_come_at_once(trial: IndexTrial) -> None:
    east, north = {"en": unit(1, 0)}, {"en": unit(0, 1)}
    of = {"a": east, "b": north}
    at_once = [document(trial.tenant, "tea", id=id_, vectors=vectors) for id_, vectors in of.items()]
    await trial.index.apply(at_once, 2)
    digest = await trial.index.digest()
    await trial.index.clear()
    await trial.index.apply([document(trial.tenant, "tea", id="a"), document(trial.tenant, "tea", id="b")], 2)
    await trial.index.apply([Embedded(trial.tenant, "message", "b", north)], 3)
    later = [Embedded(trial.tenant, "message", "a", north), Embedded(trial.tenant, "message", "a", east)]
    await trial.index.apply(later, 5)
    expect.equal(await trial.index.digest(), digest)
    await trial.index.apply([*at_once, Gone(trial.tenant, "message", "b"), *later], 9)
    expect.equal(await _ids(trial, vectors=north), ["a"])
    expect.equal(sorted(await _ids(trial, "tea")), ["a"])


@index_promise
async def what_came_and_went_in_one_apply_ends_as_the_last_says(trial: IndexTrial) -> None:
    gone = Gone(trial.tenant, "message", "a")
    await trial.index.apply([gone, document(trial.tenant, "tea", id="a"), document(trial.tenant, "tea", id="b")], 2)
    await trial.index.apply([document(trial.tenant, "tea", id="c"), Gone(trial.tenant, "message", "c")], 4)
    expect.equal(sorted(await _ids(trial, "tea")), ["a", "b"])


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
    expect.equal(sorted(await _ids(trial, "green", "tea")), ["a", "b", "c"])
    expect.equal(await _ids(trial, "green", "tea", match="all"), ["a"])
    expect.equal(await _ids(trial, "tea", "tea", "absent", match="all"), [])
    expect.equal(await _ids(trial, "absent"), [])


@index_promise
async def terms_match_whole_and_chinese_ones_too(trial: IndexTrial) -> None:
    terms = ("粉", "粉底", "底", "底液", "𠮷", "𠮷野", "ab", "abc", "bc", "1", "10", "and", "or", "not", "near")
    await trial.index.apply([document(trial.tenant, term, id=f"{n}") for n, term in enumerate(terms)], len(terms))
    for number, term in enumerate(terms):
        expect.equal((term, await _ids(trial, term)), (term, [f"{number}"]))


@index_promise
async def every_match_is_proposed_while_there_is_room(trial: IndexTrial) -> None:
    many = [document(trial.tenant, "tea", id=f"{n:03}", at=moment(n)) for n in range(150)]
    await trial.index.apply([*many, document(trial.tenant, "coffee", id="other")], 151)
    expect.equal(sorted(await _ids(trial, "tea", limit=150)), [each.id for each in many])
    expect.equal(len(await _ids(trial, "tea", limit=20)), 20)
    expect.equal(len(set(await _ids(trial, "tea", limit=20))), 20)


@index_promise
async def others_matches_do_not_take_the_room(trial: IndexTrial) -> None:
    others = [document(trial.tenant, "tea", user="mei", id=f"{n}", at=moment(n)) for n in range(300)]
    mine = document(trial.tenant, "tea", id="mine", at=moment(-1), vectors={"en": unit(0, 1)})
    await trial.index.apply([*others, mine], 301)
    expect.equal(await _ids(trial, "tea", limit=1), ["mine"])
    expect.equal(await _ids(trial, limit=1), ["mine"])
    expect.equal(await _ids(trial, vectors={"en": unit(1, 0)}, limit=1), ["mine"])


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
    found = (await _search(trial, vectors={"en": unit(1, 0)})).found
    expect.equal([each.id for each in found], ["near", "several", "far"])
    for each, cosine in zip(found, (1.0, 0.6, 0.0), strict=True):
        _expect_near(each.cosine["en"], cosine)
    await trial.reopen()
    [best, *_] = (await _search(trial, vectors={"en": unit(0, -1)})).found
    expect.equal(best.id, "several")


@index_promise
async def the_nearest_are_proposed_nearest_first_with_their_cosines(trial: IndexTrial) -> None:
    angles = {"near": (1.0, 0.1), "middle": (1.0, 1.0), "far": (-1.0, 0.2), "long": (8.0, 3.0)}
    documents = [document(trial.tenant, "x", id=name, vectors={"en": unit(*at)}) for name, at in angles.items()]
    await trial.index.apply([*documents, document(trial.tenant, "x", id="without")], 5)
    found = (await _search(trial, vectors={"en": unit(1, 0)})).found
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
    found = (await _search(trial, vectors={"en": unit(0, 1), "zh": unit(0, 0, 1)})).found
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
    found = (await _search(trial, "tea", vectors={"en": unit(1, 0)})).found
    expect.equal(sorted(each.id for each in found), ["both", "vector", "word"])
    expect.equal("vector" in [each.id for each in found[:2]], True)
    (both,) = (each for each in found if each.id == "both")
    _expect_near(both.cosine["en"], 0)


@index_promise
async def without_terms_and_vectors_the_latest_are_proposed(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "x", id=f"{n}", at=moment(n % 5)) for n in range(5)], 5)
    expect.equal(await _ids(trial), ["4", "3", "2", "1", "0"])
    expect.equal(await _ids(trial, limit=2), ["4", "3"])


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
        found = await _search(trial, "tea", "cup", "absent", filters=filters)
        expect.equal((found.documents, found.average_length), (3, 2.0))
        expect.equal([found.frequencies.get(term, 0) for term in ("tea", "cup", "absent")], [1, 2, 0])


@index_promise
async def a_proposal_brings_its_evidence(trial: IndexTrial) -> None:
    said = {"thread": "t", "seq": 7, "at": moment(3), "role": "user", "name": "Lin"}
    held = document(trial.tenant, "tea", "cup", "tea", id="a", **said)
    await trial.index.apply([held, document(trial.tenant, "cup", id="b")], 2)
    (a, b) = sorted((await _search(trial, "absent", "tea", "cup")).found, key=lambda each: each.id)
    expect.equal((a.counts, a.length, b.counts, b.length), ((0, 2, 1), 3, (0, 0, 1), 1))
    expect.equal((a.place, a.name, a.kind), (place_of("t", 7), "Lin", held.kind))
    expect.equal(a.seconds, held.at.timestamp())


@index_promise
async def clearing_forgets_everything(trial: IndexTrial) -> None:
    empty = await trial.index.digest()
    await trial.index.apply([document(trial.tenant, "tea", vectors={"en": unit(1, 0)})], 5)
    await trial.index.clear()
    expect.equal((await trial.index.watermark(), await trial.index.digest()), (0, empty))
    expect.equal(await _ids(trial, "tea"), [])
    await trial.index.apply([document(trial.tenant, "tea", id="again", vectors={"en": unit(1, 0, 0)})], 1)
    expect.equal(await _ids(trial, "tea"), ["again"])


@index_promise
async def a_successor_begins_empty_beside_the_index_and_takes_its_place(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea", id="old")], 4)
    successor = await trial.index.successor()
    await successor.clear()
    await successor.apply([document(trial.tenant, "tea", id="new")], 4)
    expect.equal(await _ids(trial, "tea"), ["old"])
    digest = await successor.digest()
    expect.equal(await trial.index.give_way(successor), True)
    expect.equal((await _ids(trial, "tea"), await trial.index.digest()), (["new"], digest))
    await trial.index.apply([document(trial.tenant, "tea", id="newer")], 5)
    expect.equal((await trial.index.watermark(), sorted(await _ids(trial, "tea"))), (5, ["new", "newer"]))


@index_promise
async def a_successor_that_has_applied_less_does_not_take_the_place(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea", id="old")], 4)
    successor = await trial.index.successor()
    await successor.clear()
    await successor.apply([document(trial.tenant, "tea", id="new")], 3)
    expect.equal(await trial.index.give_way(successor), False)
    expect.equal((await _ids(trial, "tea"), await trial.index.watermark()), (["old"], 4))
    await successor.apply([], 6)
    expect.equal(await trial.index.give_way(successor), True)
    expect.equal((await _ids(trial, "tea"), await trial.index.watermark()), (["new"], 6))


@index_promise
async def there_is_one_successor_at_a_time(trial: IndexTrial) -> None:
    successor = await trial.index.successor()
    with expect.raising(Conflict):
        await trial.index.successor()
    await successor.close()
    await (await trial.index.successor()).close()


@index_promise
async def what_takes_the_place_is_there_after_a_reopen_if_anything_is(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea", id="old")], 1)
    successor = await trial.index.successor()
    await successor.clear()
    await successor.apply([document(trial.tenant, "tea", id="new")], 2)
    await trial.index.give_way(successor)
    await trial.reopen()
    watermark, found = await trial.index.watermark(), await _ids(trial, "tea")
    expect.true((watermark, found) in ((2, ["new"]), (0, [])), f"after a reopen there is {found} at {watermark}")


@index_promise
async def equal_contents_have_an_equal_digest_whatever_the_way_they_came(trial: IndexTrial) -> None:
    documents = _various(trial)
    await trial.index.apply(documents, 4)
    at_once = await trial.index.digest()
    await trial.index.clear()
    await trial.index.apply([document(trial.tenant, "older", id="1"), document(trial.tenant, "x", id="gone")], 1)
    for position, each in enumerate(reversed(documents), start=2):
        await trial.index.apply([each], position)
    await trial.index.apply([Gone(trial.tenant, "message", "gone")], 9)
    expect.equal(await trial.index.digest(), at_once)


@index_promise
async def other_contents_have_another_digest(trial: IndexTrial) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"id": "another"},
        {"user": "mei"},
        {"at": moment(1)},
        {"topic": "drinks"},
        {"metadata": {"n": 1}},
        {"vectors": {"en": unit(1, 0)}},
        {"vectors": {"en": unit(0, 1)}},
        {"vectors": {"zh": unit(0, 1)}},
    )
    digests = []
    for changed in changes:
        await trial.index.clear()
        await trial.index.apply([document(trial.tenant, "tea", **{"id": "a", **changed})], 1)
        digests.append(await trial.index.digest())
    await trial.index.apply([document(trial.tenant, "coffee", id="a")], 2)
    digests.append(await trial.index.digest())
    expect.equal(len(set(digests)), len(digests))


@index_promise
async def a_reopened_index_is_what_it_was_or_empty(trial: IndexTrial) -> None:
    await trial.index.apply(_various(trial), 4)
    digest, found = await trial.index.digest(), await _search(trial, "tea", vectors={"en": unit(1, 0)})
    await trial.reopen()
    if await trial.index.watermark() == 0:
        expect.equal((await _search(trial, "tea")).documents, 0)
    else:
        expect.equal((await trial.index.watermark(), await trial.index.digest()), (4, digest))
        again = await _search(trial, "tea", vectors={"en": unit(1, 0)})
        expect.equal((again.found, again.frequencies), (found.found, found.frequencies))


def _various(trial: IndexTrial) -> list[Document]:
    return [
        document(trial.tenant, "tea", "cup", id="1", metadata={"b": 1, "a": [None, 0.5]}),
        document(trial.tenant, "tea", id="2", vectors={"en": unit(1, 0), "zh": unit(0, 1)}),
        document(trial.tenant, "茶", id="3", noun="memory", kind="fact", user=None),
        document(trial.tenant + "-other", "tea", id="1"),
    ]


async def _search(trial: IndexTrial, *terms: str, tenant: str | None = None, **fields: Any) -> Candidates:
    scope = Scope(tenant or trial.tenant, "lin")
    return await trial.index.search(Search(**{"scope": scope, "filters": Filters(), **fields}, terms=terms))


async def _ids(trial: IndexTrial, *terms: str, **fields: Any) -> list[str]:
    return [each.id for each in (await _search(trial, *terms, **fields)).found]


def _expect_near(actual: float, cosine: float) -> None:
    expect.true(abs(actual - cosine) <= COSINE_ERROR, f"expected a cosine near {cosine}, got {actual}")
