"""The promises of the record: in order, without gaps, once, and nobody else's."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta, timezone

from msgspec import structs

from rememberd.model import Message, Receipts, Scope
from rememberd.ports.records import BeginTurn, Order

from . import expect
from .check import storage_promise
from .samples import DISTINCT_IDS, ODD_STRINGS, append, entry, statuses
from .trial import StorageTrial, moment

promise = storage_promise("records")


@promise
async def sequence_numbers_count_from_one_without_gaps(trial: StorageTrial) -> None:
    first = await trial.storage.write(append(trial.tenant, "one", "two"))
    second = await trial.storage.write(append(trial.tenant, "three"))
    expect.equal(statuses(first) + statuses(second), [(1, "recorded"), (2, "recorded"), (3, "recorded")])


@promise
async def sequence_numbers_have_no_gaps_when_many_append_at_once(trial: StorageTrial) -> None:
    appends = [append(trial.tenant, *(f"{n}.{m}" for m in range(n % 3 + 1))) for n in range(40)]
    answers = await asyncio.gather(*(trial.storage.write(each) for each in appends))
    given = [[receipt.seq or 0 for receipt in answer.receipts] for answer in answers]
    for seqs in given:
        expect.equal(seqs, list(range(seqs[0], seqs[0] + len(seqs))))
    total = sum(map(len, given))
    expect.equal(sorted(seq for seqs in given for seq in seqs), list(range(1, total + 1)))
    tail = await trial.storage.records.tail(trial.tenant, "t", 0, 1_000)
    expect.equal([message.seq for message in tail], list(range(1, total + 1)))


@promise
async def threads_count_each_for_itself(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", thread="a"))
    other_thread = await trial.storage.write(append(trial.tenant, "one", thread="b"))
    other_tenant = await trial.storage.write(append(trial.tenant + "-other", "one", thread="a"))
    expect.equal(statuses(other_thread) + statuses(other_tenant), [(1, "recorded"), (1, "recorded")])


@promise
async def a_message_is_read_back_as_it_was_recorded(trial: StorageTrial) -> None:
    metadata = {"n": 1, "x": 0.25, "b": True, "z": None, "list": [1, "二", {"deep": []}], "键": "值"}
    said = entry("你好", role="assistant", name="Mei", at=moment(-86_400), metadata=metadata)
    await trial.storage.write(append(trial.tenant, said, agent="seller", at=moment(5)))
    expected = Message(
        id=said.id,
        tenant=trial.tenant,
        thread="t",
        seq=1,
        user="lin",
        agent="seller",
        role="assistant",
        name="Mei",
        content="你好",
        at=moment(-86_400),
        recorded_at=moment(5),
        metadata=metadata,
    )
    read = await trial.storage.records.messages(trial.tenant, [said.id])
    expect.equal([replace(message, position=0) for message in read], [expected])


@promise
async def times_are_kept_to_the_microsecond_whatever_their_zone(trial: StorageTrial) -> None:
    shanghai = moment(0.000_001).astimezone(tz=_zone(8))
    said = entry("now", at=shanghai)
    await trial.storage.write(append(trial.tenant, said, at=shanghai))
    (message,) = await trial.storage.records.messages(trial.tenant, [said.id])
    expect.equal((message.at, message.recorded_at), (shanghai, shanghai))
    expect.true(message.at.tzinfo is not None, "a time came back without its zone")


@promise
async def an_append_of_nothing_records_nothing(trial: StorageTrial) -> None:
    receipts = await trial.storage.write(append(trial.tenant))
    expect.equal(receipts, Receipts("t", ()))
    expect.equal(await trial.storage.records.thread(trial.tenant, "t"), None)


@promise
async def the_tail_is_the_last_messages_oldest_first_without_system(trial: StorageTrial) -> None:
    said = ("one", entry("rule", role="system"), "three", entry("tool", role="tool"), "five")
    await trial.storage.write(append(trial.tenant, *said))

    async def tail(after: int, limit: int) -> list[int]:
        return [message.seq for message in await trial.storage.records.tail(trial.tenant, "t", after, limit)]

    expect.equal(await tail(0, 10), [1, 3, 4, 5])
    expect.equal(await tail(0, 2), [4, 5])
    expect.equal(await tail(3, 10), [4, 5])
    expect.equal(await tail(5, 10), [])
    expect.equal(await tail(0, 0), [])


@promise
async def history_shows_a_scope_its_own_and_the_shared_and_nobody_elses(trial: StorageTrial) -> None:
    owners = [(None, None), ("lin", None), ("mei", None), ("lin", "seller"), ("lin", "buyer"), (None, "seller")]
    for user, agent in owners:
        await trial.storage.write(append(trial.tenant, "x", thread=f"{user}-{agent}", user=user, agent=agent))
    await trial.storage.write(append(trial.tenant + "-other", "x"))
    expected = {
        Scope(trial.tenant): [(None, None)],
        Scope(trial.tenant, "lin"): [(None, None), ("lin", None)],
        Scope(trial.tenant, "LIN"): [(None, None)],
        Scope(trial.tenant, "lin", "seller"): [(None, None), ("lin", None), ("lin", "seller"), (None, "seller")],
        Scope(trial.tenant, None, "seller"): [(None, None), (None, "seller")],
        Scope(trial.tenant + "-absent", "lin"): [],
    }
    for scope, seen in expected.items():
        expect.equal([(message.user, message.agent) for message in await _history(trial, scope)], seen)


@promise
async def history_of_a_thread_is_empty_for_another_user(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", thread="a"))
    await trial.storage.write(append(trial.tenant, "two", entry("rule", role="system"), thread="b"))
    mine = await _history(trial, Scope(trial.tenant, "lin", None, "b"))
    expect.equal([message.content for message in mine], ["two", "rule"])
    expect.equal(await _history(trial, Scope(trial.tenant, "mei", None, "b")), [])
    expect.equal(await _history(trial, Scope(trial.tenant, None, None, "b")), [])


@promise
async def history_is_paged_by_position_in_both_orders(trial: StorageTrial) -> None:
    for number in range(7):
        await trial.storage.write(append(trial.tenant, f"{number}", thread=f"thread {number % 2}"))
    orders: tuple[tuple[Order, list[str]], ...] = (("oldest", list("0123456")), ("newest", list("6543210")))
    for order, contents in orders:
        read: list[Message] = []
        while page := await trial.storage.records.history(
            Scope(trial.tenant, "lin"), order=order, after=read[-1].position if read else None, until=None, limit=3
        ):
            expect.true(len(page) <= 3, "a page is longer than its limit")
            read += page
        expect.equal([message.content for message in read], contents)


@promise
async def history_until_a_moment_leaves_out_what_was_recorded_later(trial: StorageTrial) -> None:
    for second in (0, 10, 20):
        await trial.storage.write(append(trial.tenant, entry(f"{second}", at=moment(-second)), at=moment(second)))
    read = await trial.storage.records.history(
        Scope(trial.tenant, "lin"), order="newest", after=None, until=moment(10), limit=10
    )
    expect.equal([message.content for message in read], ["10", "0"])


@promise
async def messages_are_found_by_id_in_their_tenant_only(trial: StorageTrial) -> None:
    one, two = entry("one"), entry("two")
    await trial.storage.write(append(trial.tenant, one, two))
    found = await trial.storage.records.messages(trial.tenant, [two.id, "absent", one.id, two.id])
    expect.equal(sorted(message.content for message in found), ["one", "two"])
    expect.equal(await trial.storage.records.messages(trial.tenant + "-other", [one.id]), [])
    expect.equal(await trial.storage.records.messages(trial.tenant, []), [])


@promise
async def many_messages_are_found_at_once(trial: StorageTrial) -> None:
    said = [entry(f"message {number}") for number in range(1_200)]
    await trial.storage.write(append(trial.tenant, *said))
    found = await trial.storage.records.messages(trial.tenant, [each.id for each in said])
    expect.equal({message.id: message.content for message in found}, {each.id: each.content for each in said})


@promise
async def neighbours_are_the_messages_with_these_numbers_in_order(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "1", entry("2", role="system"), "3", "4"))
    await trial.storage.write(append(trial.tenant, "other", thread="u"))
    found = await trial.storage.records.neighbours(trial.tenant, "t", [9, 3, 0, 2, 3])
    expect.equal([message.content for message in found], ["2", "3"])
    expect.equal(await trial.storage.records.neighbours(trial.tenant, "t", []), [])
    expect.equal(await trial.storage.records.neighbours(trial.tenant, "absent", [1]), [])


@promise
async def messages_are_counted_per_tenant_and_in_all(trial: StorageTrial) -> None:
    before = await trial.storage.records.count(None)
    await trial.storage.write(append(trial.tenant, "one", "two"))
    await trial.storage.write(append(trial.tenant + "-other", "three"))
    expect.equal(await trial.storage.records.count(trial.tenant), 2)
    expect.equal(await trial.storage.records.count(trial.tenant + "-absent"), 0)
    expect.equal(await trial.storage.records.count(None) - before, 3)


@promise
async def odd_strings_come_back_as_they_were(trial: StorageTrial) -> None:
    for odd in ODD_STRINGS:
        said = entry(odd, name=odd[:100], metadata={odd[:100]: odd}, key=odd[:100])
        await trial.storage.write(append(trial.tenant, said, thread=odd[:100], user=odd[:100], agent=odd[:100]))
        (message,) = await trial.storage.records.tail(trial.tenant, odd[:100], 0, 5)
        expect.equal((message.content, message.name, message.metadata), (odd, odd[:100], {odd[:100]: odd}))
        expect.equal((message.user, message.agent), (odd[:100], odd[:100]))
    await trial.reopen()
    for odd in ODD_STRINGS:
        scope = Scope(trial.tenant, odd[:100], odd[:100], odd[:100])
        expect.equal([message.content for message in await _history(trial, scope)], [odd])


@promise
async def ids_that_look_alike_are_distinct(trial: StorageTrial) -> None:
    for name in DISTINCT_IDS:
        said = entry(name, key=name)
        receipts = await trial.storage.write(append(trial.tenant, said, thread=name, user=name))
        expect.equal(statuses(receipts), [(1, "recorded")])
        await trial.storage.write(append(f"{trial.tenant}/{name}", structs.replace(said, id=name)))
        await trial.storage.write(replace(_turn(trial), id=name, thread=name))
    for name in DISTINCT_IDS:
        history = await _history(trial, Scope(trial.tenant, name))
        expect.equal([message.content for message in history], [name])
        (message,) = await trial.storage.records.messages(f"{trial.tenant}/{name}", list(DISTINCT_IDS))
        expect.equal((message.id, message.content), (name, name))
        expect.equal(expect.present(await trial.storage.records.turn(trial.tenant, name)).thread, name)


async def _history(trial: StorageTrial, scope: Scope) -> list[Message]:
    return await trial.storage.records.history(scope, order="oldest", after=None, until=None, limit=1_000)


def _turn(trial: StorageTrial) -> BeginTurn:
    return BeginTurn(id="turn", tenant=trial.tenant, thread="t", user="lin", agent="seller", at=moment())


def _zone(hours: int) -> timezone:
    return timezone(timedelta(hours=hours))
