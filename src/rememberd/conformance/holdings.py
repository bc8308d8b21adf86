"""The promises of holdings: revisions in order, none lost, nobody else's."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd.errors import IdempotencyConflict, StaleRevision
from rememberd.model import Filters, MemoryItem, Scope

from . import expect
from .check import storage_promise
from .samples import DISTINCT_IDS, ODD_STRINGS, append, entry, item, put
from .trial import StorageTrial, moment, new_id

if TYPE_CHECKING:
    from datetime import datetime

    from rememberd.ports.holdings import Put

promise = storage_promise("holdings")


@promise
async def an_item_comes_back_as_it_was_put(trial: StorageTrial) -> None:
    full = item(
        trial.tenant,
        "喜欢茶",
        agent="seller",
        thread="t",
        kind="preference",
        source="chat",
        importance=0.123_456_789,
        topic="drinks",
        domain="taste",
        at=moment(-5),
        revised_at=moment(0.000_001),
        valid_from=moment(-1),
        valid_until=moment(10),
        expires_at=moment(99),
        metadata={"n": 1, "x": 1.5, "b": False, "z": None, "list": [1, {"a": "b"}], "键": "值"},
    )
    bare = item(trial.tenant, user=None)
    for each in (full, bare):
        stored = await trial.storage.write(_put(each))
        expect.equal(replace(stored, position=0), each)
        expect.equal(await trial.storage.holdings.get(trial.tenant, each.id), stored)


@promise
async def an_item_is_found_in_its_tenant_only(trial: StorageTrial) -> None:
    stored = await trial.storage.write(put(trial.tenant))
    expect.equal(await trial.storage.holdings.get(trial.tenant + "-other", stored.id), None)
    expect.equal(await trial.storage.holdings.get(trial.tenant, "absent"), None)
    other = await trial.storage.write(put(trial.tenant + "-other", "another", id=stored.id))
    expect.equal(other.revision, 1)
    expect.equal(await trial.storage.holdings.get(trial.tenant, stored.id), stored)


@promise
async def every_revision_is_kept_and_the_last_is_current(trial: StorageTrial) -> None:
    stored = await _revise(trial, "one", "two", "three")
    expect.equal(await trial.storage.holdings.get(trial.tenant, stored[0].id), stored[2])
    expect.equal(await trial.storage.holdings.versions(trial.tenant, stored[0].id), stored)
    expect.equal(await trial.storage.holdings.versions(trial.tenant, "absent"), [])
    expect.equal(await trial.storage.holdings.versions(trial.tenant + "-other", stored[0].id), [])


@promise
async def a_revision_that_does_not_follow_is_stale(trial: StorageTrial) -> None:
    one, two = await _revise(trial, "one", "two")
    for revision in (0, 1, 2, 4):
        with expect.raising(StaleRevision):
            await trial.storage.write(put(trial.tenant, "stale", id=one.id, revision=revision))
    with expect.raising(StaleRevision):
        await trial.storage.write(put(trial.tenant, "not the first", revision=2))
    expect.equal(await trial.storage.holdings.versions(trial.tenant, one.id), [one, two])


@promise
async def of_revisions_put_at_once_exactly_one_wins(trial: StorageTrial) -> None:
    first = await trial.storage.write(put(trial.tenant))
    writes = (trial.storage.write(put(trial.tenant, f"{n}", id=first.id, revision=2)) for n in range(12))
    answers = await asyncio.gather(*writes, return_exceptions=True)
    winners = [answer for answer in answers if isinstance(answer, MemoryItem)]
    expect.equal(len(winners), 1)
    expect.equal(sum(isinstance(answer, StaleRevision) for answer in answers), 11)
    expect.equal(await trial.storage.holdings.versions(trial.tenant, first.id), [first, *winners])


@promise
async def a_deleted_item_is_read_by_id_only_and_can_be_put_again(trial: StorageTrial) -> None:
    holdings, first = trial.storage.holdings, await trial.storage.write(put(trial.tenant))
    gone = await trial.storage.write(put(trial.tenant, "", id=first.id, revision=2, deleted=True))
    expect.equal(await holdings.get(trial.tenant, first.id), gone)
    expect.equal(await holdings.get_many(trial.tenant, [first.id]), [])
    expect.equal(await _list(trial), [])
    expect.equal(await holdings.count(trial.tenant), 0)
    back = await trial.storage.write(put(trial.tenant, "back", id=first.id, revision=3))
    expect.equal(await _list(trial), [back])
    expect.equal(await holdings.versions(trial.tenant, first.id), [first, gone, back])


@promise
async def a_known_key_answers_the_item_of_its_first_use(trial: StorageTrial) -> None:
    operation = replace(put(trial.tenant), idempotency_key="k", digest=b"body")
    first = await trial.storage.write(operation)
    await trial.storage.write(put(trial.tenant, "revised", id=first.id, revision=2))
    head = await trial.storage.feed.head()
    again = replace(operation, item=item(trial.tenant, "made up again"))
    expect.equal(await trial.storage.write(again), first)
    expect.equal(await trial.storage.write(operation), first)
    expect.equal([c for c in await trial.storage.feed.read(head, 10) if c.tenant == trial.tenant], [])
    expect.equal(await trial.storage.holdings.count(trial.tenant), 1)


@promise
async def a_key_used_for_another_item_conflicts_and_stores_nothing(trial: StorageTrial) -> None:
    await trial.storage.write(replace(put(trial.tenant), idempotency_key="k", digest=b"body"))
    other = replace(put(trial.tenant), idempotency_key="k", digest=b"another")
    with expect.raising(IdempotencyConflict):
        await trial.storage.write(other)
    expect.equal(await trial.storage.holdings.get(trial.tenant, other.item.id), None)


@promise
async def a_key_that_recorded_a_message_conflicts_with_an_item(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, entry("message", key="k")))
    with expect.raising(IdempotencyConflict):
        await trial.storage.write(replace(put(trial.tenant), idempotency_key="k", digest=b"memory"))


@promise
async def many_items_are_read_at_once_without_the_absent(trial: StorageTrial) -> None:
    puts = [put(trial.tenant, f"{number}") for number in range(40)]
    stored = [await trial.storage.write(each) for each in puts]
    ids = [each.id for each in stored]
    found = await trial.storage.holdings.get_many(trial.tenant, [*ids, "absent", *ids])
    expect.equal(sorted(found, key=lambda each: each.position), stored)
    expect.equal(await trial.storage.holdings.get_many(trial.tenant + "-other", ids), [])
    expect.equal(await trial.storage.holdings.get_many(trial.tenant, []), [])


@promise
async def items_are_read_as_they_were_at_a_moment(trial: StorageTrial) -> None:
    one, two, three = await _revise(trial, "one", "two", "three", step=10)
    gone = await trial.storage.write(put(trial.tenant, "", id=one.id, revision=4, deleted=True, revised_at=moment(30)))
    expected: tuple[tuple[float, list[MemoryItem]], ...] = (
        (-1, []),
        (0, [one]),
        (9.9, [one]),
        (10, [two]),
        (25, [three]),
        (30, []),
        (99, []),
    )
    for seconds, current in expected:
        at = moment(seconds)
        expect.equal(await trial.storage.holdings.get_many(trial.tenant, [one.id], as_of=at), current)
        expect.equal(await trial.storage.holdings.as_of(Scope(trial.tenant, "lin"), at, 10), current)
    expect.equal(gone.deleted, True)


@promise
async def what_was_current_at_a_moment_is_scoped_newest_first_and_limited(trial: StorageTrial) -> None:
    mine = [await trial.storage.write(put(trial.tenant, f"{n}", revised_at=moment(n))) for n in range(4)]
    await trial.storage.write(put(trial.tenant, user="mei"))
    holdings = trial.storage.holdings
    expect.equal(await holdings.as_of(Scope(trial.tenant, "lin"), moment(2), 10), mine[2::-1])
    expect.equal(await holdings.as_of(Scope(trial.tenant, "lin"), moment(2), 2), [mine[2], mine[1]])
    expect.equal(await holdings.as_of(Scope(trial.tenant), moment(2), 10), [])


@promise
async def a_list_shows_a_scope_its_own_and_the_shared_and_nobody_elses(trial: StorageTrial) -> None:
    owners = [(None, None), ("lin", None), ("mei", None), ("lin", "seller"), ("lin", "buyer"), (None, "seller")]
    for user, agent in owners:
        await trial.storage.write(put(trial.tenant, user=user, agent=agent, thread="somewhere"))
    await trial.storage.write(put(trial.tenant + "-other"))
    expected = {
        Scope(trial.tenant): [(None, None)],
        Scope(trial.tenant, "lin"): [("lin", None), (None, None)],
        Scope(trial.tenant, "Lin"): [(None, None)],
        Scope(trial.tenant, "lin", "seller"): [(None, "seller"), ("lin", "seller"), ("lin", None), (None, None)],
        Scope(trial.tenant, "mei", "buyer", "elsewhere"): [("mei", None), (None, None)],
    }
    for scope, seen in expected.items():
        listed = await _list(trial, scope=scope)
        expect.equal([(each.user, each.agent) for each in listed], seen)


@promise
async def a_list_is_paged_newest_change_first(trial: StorageTrial) -> None:
    stored = [await trial.storage.write(put(trial.tenant, f"{number}")) for number in range(6)]
    revised = await trial.storage.write(put(trial.tenant, "revised", id=stored[2].id, revision=2))
    read: list[MemoryItem] = []
    while page := await trial.storage.holdings.list(
        Scope(trial.tenant, "lin"), Filters(), after=read[-1].position if read else None, limit=4, now=moment()
    ):
        expect.true(len(page) <= 4, "a page is longer than its limit")
        read += page
    expect.equal(read, [revised, stored[5], stored[4], stored[3], stored[1], stored[0]])


@promise
async def a_list_leaves_out_what_has_expired(trial: StorageTrial) -> None:
    lasting = await trial.storage.write(put(trial.tenant))
    brief = await trial.storage.write(put(trial.tenant, expires_at=moment(10)))
    expect.equal(await _list(trial, now=moment(9)), [brief, lasting])
    expect.equal(await _list(trial, now=moment(10)), [lasting])
    expect.equal(await trial.storage.holdings.get_many(trial.tenant, [brief.id]), [brief])


@promise
async def filters_admit_any_of_their_values_and_all_of_the_filters(trial: StorageTrial) -> None:
    await trial.storage.write(put(trial.tenant, "a", kind="fact", topic="tea", source="chat", thread="x"))
    await trial.storage.write(put(trial.tenant, "b", kind="note", topic="tea", domain="taste", agent="seller"))
    await trial.storage.write(put(trial.tenant, "c", kind="summary", topic="Tea"))
    expected = (
        (Filters(), "cba"),
        (Filters(kind=("fact", "note")), "ba"),
        (Filters(kind=("fact", "summary"), topic=("tea",)), "a"),
        (Filters(topic=("tea",)), "ba"),
        (Filters(domain=("taste",)), "b"),
        (Filters(source=("chat", "web")), "a"),
        (Filters(thread=("x",)), "a"),
        (Filters(agent=("seller",)), "b"),
        (Filters(role=("user",)), ""),
        (Filters(kind=("absent",)), ""),
    )
    for filters, texts in expected:
        expect.equal((filters, await _listed(trial, filters)), (filters, texts))


@promise
async def filters_by_time_include_after_and_exclude_before(trial: StorageTrial) -> None:
    for second, text in enumerate("abc"):
        await trial.storage.write(put(trial.tenant, text, at=moment(second)))
    expect.equal(await _listed(trial, Filters(after=moment(1))), "cb")
    expect.equal(await _listed(trial, Filters(before=moment(1))), "a")
    expect.equal(await _listed(trial, Filters(after=moment(1), before=moment(2))), "b")


@promise
async def filters_compare_metadata_as_text(trial: StorageTrial) -> None:
    held = {
        "a": {"k": "x", "a:b": "1", 'it\'s "q" 键.0': "%"},
        "b": {"k": 1, "f": 2.5, "t": True},
        "c": {"k": "1", "t": "true", "f": "2.5"},
        "d": {"k": ["x"], "f": {"x": "x"}, "t": None},
        "e": {},
    }
    for text, metadata in held.items():
        await trial.storage.write(put(trial.tenant, text, metadata=metadata))
    expected: tuple[tuple[dict[str, tuple[str, ...]], str], ...] = (
        ({"k": ("x",)}, "a"),
        ({"k": ("1",)}, "cb"),
        ({"k": ("x", "1")}, "cba"),
        ({"k": ("1",), "f": ("2.5",)}, "cb"),
        ({"t": ("true",)}, "cb"),
        ({"t": ("null", "None", "")}, ""),
        ({"f": ('{"x": "x"}', "x")}, ""),
        ({"a:b": ("1",)}, "a"),
        ({'it\'s "q" 键.0': ("%",)}, "a"),
        ({'it\'s "q" 键.0': ("_",)}, ""),
        ({"absent": ("",)}, ""),
        ({"k": ()}, "edcba"),
    )
    for wanted, texts in expected:
        expect.equal((wanted, await _listed(trial, Filters(metadata=wanted))), (wanted, texts))


@promise
async def a_filtered_list_fills_its_pages(trial: StorageTrial) -> None:
    for number in range(60):
        await trial.storage.write(put(trial.tenant, f"{number}", metadata={"even": number % 2 == 0}))
    scope, filters = Scope(trial.tenant, "lin"), Filters(metadata={"even": ("true",)})
    page = await trial.storage.holdings.list(scope, filters, after=None, limit=20, now=moment())
    expect.equal([each.text for each in page], [f"{number}" for number in range(58, 18, -2)])


@promise
async def items_are_counted_per_tenant_and_in_all(trial: StorageTrial) -> None:
    before = await trial.storage.holdings.count(None)
    await _revise(trial, "one", "two")
    await trial.storage.write(put(trial.tenant, expires_at=moment(-1)))
    await trial.storage.write(put(trial.tenant + "-other"))
    expect.equal(await trial.storage.holdings.count(trial.tenant), 2)
    expect.equal(await trial.storage.holdings.count(trial.tenant + "-absent"), 0)
    expect.equal(await trial.storage.holdings.count(None) - before, 3)


@promise
async def odd_strings_stay_in_items(trial: StorageTrial) -> None:
    for odd in ODD_STRINGS:
        short = odd[:100]
        one = item(trial.tenant, odd, id=short, user=short, topic=short, source=short, metadata={short: odd})
        await trial.storage.write(replace(_put(one), idempotency_key=short, digest=b"d"))
        filters = Filters(topic=(short,), source=(short,), metadata={short: (odd,)})
        (listed,) = await _list(trial, filters, Scope(trial.tenant, short))
        expect.equal(replace(listed, position=0), one)


@promise
async def item_ids_that_look_alike_are_distinct(trial: StorageTrial) -> None:
    for name in DISTINCT_IDS:
        await trial.storage.write(put(trial.tenant, name, id=name, user=name, topic=name))
    for name in DISTINCT_IDS:
        expect.equal(expect.present(await trial.storage.holdings.get(trial.tenant, name)).text, name)
        listed = await _list(trial, Filters(topic=(name,)), Scope(trial.tenant, name))
        expect.equal([each.text for each in listed], [name])
    found = await trial.storage.holdings.get_many(trial.tenant, DISTINCT_IDS)
    expect.equal(sorted(each.id for each in found), sorted(DISTINCT_IDS))


def _put(stored: MemoryItem) -> Put:
    return replace(put(stored.tenant), item=stored)


async def _revise(trial: StorageTrial, *texts: str, step: int = 1) -> list[MemoryItem]:
    """Put a new item with a revision per text, so many seconds apart."""
    name = new_id()
    return [
        await trial.storage.write(
            put(trial.tenant, text, id=name, revision=number + 1, revised_at=moment(number * step))
        )
        for number, text in enumerate(texts)
    ]


async def _list(
    trial: StorageTrial,
    filters: Filters | None = None,
    scope: Scope | None = None,
    now: datetime | None = None,
) -> list[MemoryItem]:
    return await trial.storage.holdings.list(
        scope or Scope(trial.tenant, "lin"), filters or Filters(), after=None, limit=100, now=now or moment()
    )


async def _listed(trial: StorageTrial, filters: Filters) -> str:
    listed = await _list(trial, filters, Scope(trial.tenant, "lin", "seller"))
    return "".join(each.text for each in listed)
