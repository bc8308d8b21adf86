"""The promises of the index: it holds what it was told, and nothing that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rememberd.errors import Conflict
from rememberd.ports.index import Embedded, Gone

from . import expect
from .check import index_promise
from .samples import COSINE_ERROR, document, unit
from .trial import IndexTrial, moment

if TYPE_CHECKING:
    from rememberd.ports.index import Document


@index_promise
async def an_index_begins_empty(trial: IndexTrial) -> None:
    expect.equal(await trial.index.watermark(), 0)
    found = await trial.search("tea")
    expect.equal((found.found, found.documents, found.watermark), ((), 0, 0))


@index_promise
async def applying_moves_the_watermark(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea")], 7)
    expect.equal(await trial.index.watermark(), 7)
    await trial.index.apply([], 9)
    expect.equal(await trial.index.watermark(), 9)
    expect.equal((await trial.search("tea")).watermark, 9)


@index_promise
async def applying_again_changes_nothing(trial: IndexTrial) -> None:
    changes = [document(trial.tenant, "tea", id="a"), document(trial.tenant, "tea", id="b")]
    await trial.index.apply([*changes, Gone(trial.tenant, "message", "b")], 3)
    digest, found = await trial.index.digest(), await trial.search("tea")
    await trial.index.apply([*changes, Gone(trial.tenant, "message", "b")], 3)
    expect.equal(await trial.index.digest(), digest)
    expect.equal((await trial.search("tea")).found, found.found)


@index_promise
async def a_document_replaces_the_one_of_the_same_address(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea", "cup", id="a")], 1)
    await trial.index.apply([document(trial.tenant, "coffee", id="a")], 2)
    expect.equal(await trial.ids("tea"), [])
    found = await trial.search("coffee", "tea")
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
    found = await trial.search("tea")
    expect.equal([(each.noun, each.id) for each in found.found], [("memory", "a")])
    expect.equal(await trial.ids("tea", tenant=trial.tenant + "-other"), ["a"])
    expect.equal(await trial.ids("tea", tenant=trial.tenant + "-absent"), [])


@index_promise
async def what_is_gone_is_not_found(trial: IndexTrial) -> None:
    vectors = {"en": unit(1, 0)}
    await trial.index.apply([document(trial.tenant, "tea", id="a", vectors=vectors)], 1)
    await trial.index.apply([Gone(trial.tenant, "message", "a"), Gone(trial.tenant, "message", "absent")], 2)
    expect.equal(await trial.ids("tea"), [])
    expect.equal(await trial.ids(vectors=vectors), [])
    expect.equal(await trial.ids(), [])
    found = await trial.search("tea")
    expect.equal((found.documents, found.frequencies.get("tea", 0)), (0, 0))


@index_promise
async def vectors_come_later_and_take_the_place_of_others(trial: IndexTrial) -> None:
    east, north = {"en": unit(1, 0)}, {"en": unit(0, 1)}
    await trial.index.apply([document(trial.tenant, "tea", id="a"), document(trial.tenant, "tea", id="b")], 2)
    expect.equal(await trial.ids(vectors=east), [])
    await trial.index.apply([Embedded(trial.tenant, "message", "a", east), document(trial.tenant, id="c")], 4)
    expect.equal(await trial.ids(vectors=east), ["a"])
    expect.equal(sorted(await trial.ids("tea")), ["a", "b"])
    await trial.index.apply([Embedded(trial.tenant, "message", "a", {"zh": unit(1, 0), **north})], 5)
    found = await trial.search(vectors={"zh": unit(1, 0), **north})
    expect.equal([(each.id, len(each.cosine)) for each in found.found], [("a", 2)])
    expect.true(min(found.found[0].cosine.values()) > 1 - COSINE_ERROR, "both vectors are those that came last")
    await trial.index.apply([Embedded(trial.tenant, "message", "a", {})], 6)
    expect.equal((await trial.ids(vectors=north), sorted(await trial.ids("tea"))), ([], ["a", "b"]))


@index_promise
async def vectors_of_what_is_not_held_are_nothing(trial: IndexTrial) -> None:
    east = {"en": unit(1, 0)}
    await trial.index.apply([document(trial.tenant, "tea", id="a")], 1)
    before = await trial.index.digest()
    await trial.index.apply([Embedded(trial.tenant, "message", "b", east), Embedded("other", "memory", "a", east)], 3)
    expect.equal(await trial.index.digest(), before)
    await trial.index.apply([document(trial.tenant, "tea", id="b")], 4)
    expect.equal(await trial.ids(vectors=east), [])


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
    expect.equal(await trial.ids(vectors=north), ["a"])
    expect.equal(sorted(await trial.ids("tea")), ["a"])


@index_promise
async def what_came_and_went_in_one_apply_ends_as_the_last_says(trial: IndexTrial) -> None:
    gone = Gone(trial.tenant, "message", "a")
    await trial.index.apply([gone, document(trial.tenant, "tea", id="a"), document(trial.tenant, "tea", id="b")], 2)
    await trial.index.apply([document(trial.tenant, "tea", id="c"), Gone(trial.tenant, "message", "c")], 4)
    expect.equal(sorted(await trial.ids("tea")), ["a", "b"])


@index_promise
async def clearing_forgets_everything(trial: IndexTrial) -> None:
    empty = await trial.index.digest()
    await trial.index.apply([document(trial.tenant, "tea", vectors={"en": unit(1, 0)})], 5)
    await trial.index.clear()
    expect.equal((await trial.index.watermark(), await trial.index.digest()), (0, empty))
    expect.equal(await trial.ids("tea"), [])
    await trial.index.apply([document(trial.tenant, "tea", id="again", vectors={"en": unit(1, 0, 0)})], 1)
    expect.equal(await trial.ids("tea"), ["again"])


@index_promise
async def a_successor_begins_empty_beside_the_index_and_takes_its_place(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea", id="old")], 4)
    successor = await trial.index.successor()
    await successor.clear()
    await successor.apply([document(trial.tenant, "tea", id="new")], 4)
    expect.equal(await trial.ids("tea"), ["old"])
    digest = await successor.digest()
    expect.equal(await trial.index.give_way(successor), True)
    expect.equal((await trial.ids("tea"), await trial.index.digest()), (["new"], digest))
    await trial.index.apply([document(trial.tenant, "tea", id="newer")], 5)
    expect.equal((await trial.index.watermark(), sorted(await trial.ids("tea"))), (5, ["new", "newer"]))


@index_promise
async def a_successor_that_has_applied_less_does_not_take_the_place(trial: IndexTrial) -> None:
    await trial.index.apply([document(trial.tenant, "tea", id="old")], 4)
    successor = await trial.index.successor()
    await successor.clear()
    await successor.apply([document(trial.tenant, "tea", id="new")], 3)
    expect.equal(await trial.index.give_way(successor), False)
    expect.equal((await trial.ids("tea"), await trial.index.watermark()), (["old"], 4))
    await successor.apply([], 6)
    expect.equal(await trial.index.give_way(successor), True)
    expect.equal((await trial.ids("tea"), await trial.index.watermark()), (["new"], 6))


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
    watermark, found = await trial.index.watermark(), await trial.ids("tea")
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
    digest, found = await trial.index.digest(), await trial.search("tea", vectors={"en": unit(1, 0)})
    await trial.reopen()
    if await trial.index.watermark() == 0:
        expect.equal((await trial.search("tea")).documents, 0)
    else:
        expect.equal((await trial.index.watermark(), await trial.index.digest()), (4, digest))
        again = await trial.search("tea", vectors={"en": unit(1, 0)})
        expect.equal((again.found, again.frequencies), (found.found, found.frequencies))


def _various(trial: IndexTrial) -> list[Document]:
    return [
        document(trial.tenant, "tea", "cup", id="1", metadata={"b": 1, "a": [None, 0.5]}),
        document(trial.tenant, "tea", id="2", vectors={"en": unit(1, 0), "zh": unit(0, 1)}),
        document(trial.tenant, "茶", id="3", noun="memory", kind="fact", user=None),
        document(trial.tenant + "-other", "tea", id="1"),
    ]
