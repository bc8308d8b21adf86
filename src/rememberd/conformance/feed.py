"""The promises of the feed: every change once, in the order of the commits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd.errors import StaleRevision
from rememberd.model import Change, Scope
from rememberd.ports.feed import Advance
from rememberd.ports.holdings import Put
from rememberd.ports.vectors import PutVectors

from . import expect
from .check import storage_promise
from .samples import append, entry, put, vector
from .trial import new_id

if TYPE_CHECKING:
    from .trial import StorageTrial

promise = storage_promise("feed")


@promise
async def each_message_and_revision_and_embedded_thing_is_one_change_in_order(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    one, two, memory = entry("one"), entry("two"), put(trial.tenant)
    deleted = replace(memory, item=replace(memory.item, revision=2, deleted=True))
    vectors = (
        vector(trial.tenant, one.id, 1, 0, lane="en"),
        vector(trial.tenant, one.id, 1, 0, lane="zh"),
        vector(trial.tenant, memory.item.id, 0, 1, noun="memory"),
    )
    await trial.storage.write(append(trial.tenant, one, two), memory, PutVectors(vectors=vectors), deleted)
    changes = [(change.noun, change.id, change.operation) for change in await _changes(trial, start)]
    expect.equal(
        changes,
        [
            ("message", one.id, "put"),
            ("message", two.id, "put"),
            ("memory", memory.item.id, "put"),
            ("message", one.id, "embed"),
            ("memory", memory.item.id, "embed"),
            ("memory", memory.item.id, "delete"),
        ],
    )


@promise
async def messages_and_revisions_carry_the_position_of_their_change(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    memory = put(trial.tenant)
    await trial.storage.write(append(trial.tenant, "one"), memory)
    second = await trial.storage.write(put(trial.tenant, "two", id=memory.item.id, revision=2))
    await trial.storage.write(append(trial.tenant, "two"))
    one, first_put, second_put, two = (change.position for change in await _changes(trial, start))
    messages = await trial.storage.records.tail(trial.tenant, "t", 0, 10)
    expect.equal([message.position for message in messages], [one, two])
    versions = await trial.storage.holdings.versions(trial.tenant, memory.item.id)
    expect.equal([item.position for item in versions], [first_put, second_put])
    expect.equal(second.position, second_put)


@promise
async def the_head_is_the_position_of_the_last_change(trial: StorageTrial) -> None:
    before = await trial.storage.feed.head()
    await trial.storage.write(append(trial.tenant, "one", "two"))
    head = await trial.storage.feed.head()
    expect.true(head > before, f"the head stayed at {before}, now {head}")
    expect.equal((await _changes(trial, before))[-1].position, head)
    expect.equal(await trial.storage.feed.read(head, 10), [])


@promise
async def changes_of_texts_are_told_without_those_of_vectors(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    one, two, memory = entry("one"), entry("two"), put(trial.tenant)
    await trial.storage.write(append(trial.tenant, one))
    await trial.storage.write(PutVectors(vectors=(vector(trial.tenant, one.id, 1),)))
    await trial.storage.write(append(trial.tenant, two), memory)
    deleted = replace(memory.item, revision=2, deleted=True)
    await trial.storage.write(PutVectors(vectors=(vector(trial.tenant, two.id, 1),)), Put(item=deleted))
    every = await _changes(trial, start)
    texts = [change for change in every if change.operation != "embed"]
    expect.equal([change.id for change in texts], [one.id, two.id, memory.item.id, memory.item.id])
    reached, told = start, list[Change]()
    while reached < every[-1].position:
        changes, upto = await trial.storage.feed.texts(reached, 2)
        expect.true(reached < upto <= every[-1].position, f"from {reached} it came to {upto}")
        reached, told = upto, told + changes
    expect.equal(told, texts)
    expect.equal(await trial.storage.feed.texts(reached, 2), ([], reached))


@promise
async def puts_are_counted_beyond_a_position(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    one = entry("one")
    await trial.storage.write(append(trial.tenant, one, "two"), put(trial.tenant))
    await trial.storage.write(PutVectors(vectors=(vector(trial.tenant, one.id, 1),)))
    expect.equal(await trial.storage.feed.puts(start), 3)
    expect.equal(await trial.storage.feed.puts(start + 2), 1)
    expect.equal(await trial.storage.feed.puts(await trial.storage.feed.head()), 0)


@promise
async def the_feed_is_read_in_pages_beyond_a_position(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    await trial.storage.write(append(trial.tenant, *(f"{number}" for number in range(7))))
    whole = await _changes(trial, start)
    paged: list[Change] = []
    while page := await trial.storage.feed.read(paged[-1].position if paged else start, 3):
        expect.true(len(page) <= 3, "a page is longer than its limit")
        paged += [change for change in page if change.tenant == trial.tenant]
    expect.equal(paged, whole)
    expect.equal(len({change.position for change in whole}), 7)


@promise
async def positions_go_on_after_a_reopen(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one"))
    head = await trial.storage.feed.head()
    await trial.reopen()
    expect.true(await trial.storage.feed.head() >= head, "the head went back")
    await trial.storage.write(append(trial.tenant, "two"))
    positions = [m.position for m in await trial.storage.records.tail(trial.tenant, "t", 0, 10)]
    expect.true(positions[1] > head, f"position {positions[1]} came after {head}")


@promise
async def who_follows_the_feed_while_many_write_misses_nothing(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    followed: list[Change] = []
    writing = True

    async def follow() -> None:
        after = start
        last_round = False
        while not last_round:
            last_round = not writing
            changes = await trial.storage.feed.read(after, 5)
            while changes:
                followed.extend(change for change in changes if change.tenant == trial.tenant)
                after = changes[-1].position
                changes = await trial.storage.feed.read(after, 5)
            await asyncio.sleep(0)

    async def write(writer: int) -> None:
        for number in range(6):
            also = [put(trial.tenant) for _ in range((writer + number) % 4)]
            await trial.storage.write(append(trial.tenant, f"{number}", thread=f"{writer}"), *also)

    followers = [asyncio.create_task(follow())]
    try:
        await asyncio.gather(*(write(writer) for writer in range(16)))
    finally:
        writing = False
        await asyncio.gather(*followers)
    expect.equal(followed, await _changes(trial, start))
    expect.equal(len(followed), 16 * 6 + sum((w + n) % 4 for w in range(16) for n in range(6)))


@promise
async def a_head_that_was_seen_covers_everything_below_it(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    snapshots: list[tuple[int, list[Change]]] = []

    async def write(writer: int) -> None:
        for number in range(4):
            await trial.storage.write(append(trial.tenant, f"{number}", thread=f"{writer}"))
            head = await trial.storage.feed.head()
            snapshots.append((head, [c for c in await _changes(trial, start) if c.position <= head]))

    await asyncio.gather(*(write(writer) for writer in range(8)))
    whole = await _changes(trial, start)
    for head, seen in snapshots:
        expect.equal(seen, [change for change in whole if change.position <= head])


@promise
async def a_failed_write_leaves_no_change_behind(trial: StorageTrial) -> None:
    memory = put(trial.tenant)
    await trial.storage.write(memory)
    start = await trial.storage.feed.head()
    writes = [trial.storage.write(append(trial.tenant, "undone", thread=f"{n}"), memory) for n in range(6)]
    answers = await asyncio.gather(*writes, return_exceptions=True)
    expect.equal(sum(isinstance(answer, Exception) for answer in answers), 6)
    await trial.storage.write(append(trial.tenant, "done"))
    (change,) = await _changes(trial, start)
    scope = Scope(trial.tenant, "lin")
    history = await trial.storage.records.history(scope, order="oldest", after=None, until=None, limit=10)
    expect.equal([(message.id, message.content) for message in history], [(change.id, "done")])


@promise
async def a_follower_never_goes_back(trial: StorageTrial) -> None:
    follower, other = new_id(), new_id()
    expect.equal(await trial.storage.feed.reached(follower), 0)
    for position, reached in ((5, 5), (3, 5), (5, 5), (9, 9)):
        await trial.storage.write(Advance(follower=follower, position=position))
        expect.equal(await trial.storage.feed.reached(follower), reached)
    expect.equal(await trial.storage.feed.reached(other), 0)
    await trial.reopen()
    expect.equal(await trial.storage.feed.reached(follower), 9)


@promise
async def an_advance_is_undone_with_its_write_and_is_no_change(trial: StorageTrial) -> None:
    follower, memory = new_id(), put(trial.tenant)
    await trial.storage.write(memory)
    start = await trial.storage.feed.head()
    with expect.raising(StaleRevision):
        await trial.storage.write(Advance(follower=follower, position=5), memory)
    expect.equal(await trial.storage.feed.reached(follower), 0)
    await trial.storage.write(Advance(follower=follower, position=5))
    expect.equal(await _changes(trial, start), [])


async def _changes(trial: StorageTrial, after: int) -> list[Change]:
    """The changes of the trial's tenant; the positions of everything read must rise."""
    changes = await trial.storage.feed.read(after, 10_000)
    positions = [change.position for change in changes]
    expect.equal(positions, sorted(set(positions)))
    return [change for change in changes if change.tenant == trial.tenant]
