"""The promises of the record: in order, without gaps, once, and nobody else's."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta, timezone

from rememberd.errors import IdempotencyConflict, NotFound, ThreadTaken
from rememberd.model import Message, Receipts, Scope
from rememberd.ports.records import BeginTurn, EndTurn, Order, Touch, TurnState

from . import expect
from .check import storage_promise
from .samples import DISTINCT_IDS, ODD_STRINGS, append, entry, put
from .trial import StorageTrial, moment

promise = storage_promise("records")


@promise
async def sequence_numbers_count_from_one_without_gaps(trial: StorageTrial) -> None:
    first = await trial.storage.write(append(trial.tenant, "one", "two"))
    second = await trial.storage.write(append(trial.tenant, "three"))
    expect.equal(_statuses(first) + _statuses(second), [(1, "recorded"), (2, "recorded"), (3, "recorded")])


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
    expect.equal(_statuses(other_thread) + _statuses(other_tenant), [(1, "recorded"), (1, "recorded")])


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
async def a_duplicate_is_answered_with_the_first_receipt(trial: StorageTrial) -> None:
    first = await trial.storage.write(append(trial.tenant, "before", entry("once", key="k")))
    second = await trial.storage.write(append(trial.tenant, entry("once", key="k"), "after"))
    expect.equal(second.receipts[0], replace(first.receipts[1], status="duplicate"))
    expect.equal(_statuses(second), [(2, "duplicate"), (3, "recorded")])
    expect.equal(await trial.storage.records.count(trial.tenant), 3)


@promise
async def a_key_used_twice_within_one_append_is_a_duplicate(trial: StorageTrial) -> None:
    first = entry("once", key="k")
    receipts = await trial.storage.write(append(trial.tenant, first, entry("once", key="k"), "other"))
    expect.equal(_statuses(receipts), [(1, "recorded"), (1, "duplicate"), (2, "recorded")])
    expect.equal(receipts.receipts[1].id, first.id)


@promise
async def an_append_that_is_all_duplicates_changes_nothing(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, entry("once", key="k")))
    state, head = await trial.storage.records.thread(trial.tenant, "t"), await trial.storage.feed.head()
    await trial.storage.write(append(trial.tenant, entry("once", key="k"), at=moment(100_000)))
    expect.equal(await trial.storage.records.thread(trial.tenant, "t"), state)
    changes = await trial.storage.feed.read(head, 100)
    expect.equal([change for change in changes if change.tenant == trial.tenant], [])


@promise
async def a_key_used_for_another_body_conflicts_and_records_nothing(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, entry("once", key="k")))
    with expect.raising(IdempotencyConflict):
        await trial.storage.write(append(trial.tenant, "innocent", entry("twice", key="k")))
    expect.equal(await trial.storage.records.count(trial.tenant), 1)


@promise
async def a_key_used_for_two_bodies_within_one_append_conflicts(trial: StorageTrial) -> None:
    with expect.raising(IdempotencyConflict):
        await trial.storage.write(append(trial.tenant, entry("once", key="k"), entry("twice", key="k")))
    expect.equal(await trial.storage.records.thread(trial.tenant, "t"), None)


@promise
async def keys_are_the_tenants_own(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, entry("once", key="k")))
    other = await trial.storage.write(append(trial.tenant + "-other", entry("else", key="k")))
    expect.equal(_statuses(other), [(1, "recorded")])


@promise
async def a_key_that_stored_a_memory_item_conflicts(trial: StorageTrial) -> None:
    await trial.storage.write(replace(put(trial.tenant), idempotency_key="k", digest=b"memory"))
    with expect.raising(IdempotencyConflict):
        await trial.storage.write(append(trial.tenant, entry("message", key="k")))


@promise
async def of_equal_requests_at_once_one_is_recorded(trial: StorageTrial) -> None:
    answers = await asyncio.gather(
        *(trial.storage.write(append(trial.tenant, entry("once", key="k"))) for _ in range(12))
    )
    statuses = sorted(_statuses(answer)[0] for answer in answers)
    expect.equal(statuses, [(1, "duplicate")] * 11 + [(1, "recorded")])
    expect.equal(len({answer.receipts[0].id for answer in answers}), 1)


@promise
async def a_known_key_brings_back_the_thread_that_was_made_up(trial: StorageTrial) -> None:
    first = await trial.storage.write(append(trial.tenant, entry("once", key="k"), thread="made-1", made_up=True))
    retry = append(trial.tenant, "new", entry("once", key="k"), thread="made-2", made_up=True)
    second = await trial.storage.write(retry)
    expect.equal((first.thread, second.thread), ("made-1", "made-1"))
    expect.equal(_statuses(second), [(2, "recorded"), (1, "duplicate")])
    expect.equal(await trial.storage.records.thread(trial.tenant, "made-2"), None)


@promise
async def a_made_up_thread_without_a_known_key_stays(trial: StorageTrial) -> None:
    receipts = await trial.storage.write(append(trial.tenant, entry("new", key="n"), thread="made", made_up=True))
    expect.equal((receipts.thread, _statuses(receipts)), ("made", [(1, "recorded")]))


@promise
async def a_thread_belongs_to_the_user_of_its_first_message(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "mine", user="lin"))
    for other in ("mei", "Lin", None):
        with expect.raising(ThreadTaken):
            await trial.storage.write(append(trial.tenant, "mine too", user=other))
    expect.equal(expect.present(await trial.storage.records.thread(trial.tenant, "t")).user, "lin")
    await trial.storage.write(append(trial.tenant, "nobody's", thread="shared", user=None))
    with expect.raising(ThreadTaken):
        await trial.storage.write(append(trial.tenant, "mine", thread="shared", user="lin"))


@promise
async def a_duplicate_in_another_users_thread_is_refused(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, entry("mine", key="k"), user="lin"))
    with expect.raising(ThreadTaken):
        await trial.storage.write(append(trial.tenant, entry("mine", key="k"), user="mei"))


@promise
async def of_two_users_who_begin_a_thread_at_once_one_gets_it(trial: StorageTrial) -> None:
    writes = (trial.storage.write(append(trial.tenant, "mine", user=f"user-{n}")) for n in range(8))
    answers = await asyncio.gather(*writes, return_exceptions=True)
    expect.equal(sum(isinstance(answer, Receipts) for answer in answers), 1)
    expect.equal(sum(isinstance(answer, ThreadTaken) for answer in answers), 7)


@promise
async def agents_share_a_users_thread(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", agent="a"))
    expect.equal(_statuses(await trial.storage.write(append(trial.tenant, "two", agent="b"))), [(2, "recorded")])


@promise
async def a_session_goes_on_while_it_is_used(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", at=moment(0)))
    await trial.storage.write(append(trial.tenant, "two", at=moment(3_600)))
    state = expect.present(await trial.storage.records.thread(trial.tenant, "t"))
    expect.equal((state.last_seq, state.session_from, state.last_used), (2, 0, moment(3_600)))


@promise
async def a_new_session_begins_after_the_ttl_with_the_first_entry_recorded(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", "two", at=moment(0)))
    await trial.storage.write(append(trial.tenant, "three", "four", at=moment(3_601)))
    state = expect.present(await trial.storage.records.thread(trial.tenant, "t"))
    expect.equal((state.last_seq, state.session_from, state.last_used), (4, 2, moment(3_601)))


@promise
async def an_append_recorded_late_does_not_turn_the_last_use_back(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", at=moment(500)))
    await trial.storage.write(append(trial.tenant, "two", at=moment(100)))
    expect.equal(expect.present(await trial.storage.records.thread(trial.tenant, "t")).last_used, moment(500))


@promise
async def a_touch_notes_the_use_and_never_turns_it_back(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", "two"))
    await trial.storage.write(Touch(tenant=trial.tenant, thread="t", at=moment(60)))
    await trial.storage.write(Touch(tenant=trial.tenant, thread="t", at=moment(30), session_from=1))
    state = expect.present(await trial.storage.records.thread(trial.tenant, "t"))
    expect.equal((state.last_used, state.session_from), (moment(60), 1))


@promise
async def a_touch_keeps_a_session_alive(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", at=moment(0)))
    await trial.storage.write(Touch(tenant=trial.tenant, thread="t", at=moment(3_000)))
    await trial.storage.write(append(trial.tenant, "two", at=moment(6_000)))
    expect.equal(expect.present(await trial.storage.records.thread(trial.tenant, "t")).session_from, 0)


@promise
async def a_touch_does_not_make_a_thread(trial: StorageTrial) -> None:
    await trial.storage.write(Touch(tenant=trial.tenant, thread="t", at=moment(), session_from=0))
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
async def a_turn_is_begun_and_ended_once(trial: StorageTrial) -> None:
    turn, end = _turn(trial), EndTurn(id="turn", tenant=trial.tenant, outcome="ok", at=moment(9), detail={"步": [1]})
    expect.equal(await trial.storage.records.turn(trial.tenant, "turn"), None)
    await trial.storage.write(turn)
    begun = TurnState(id="turn", tenant=trial.tenant, thread="t", user="lin", agent="seller", begun_at=moment())
    expect.equal(await trial.storage.records.turn(trial.tenant, "turn"), begun)
    expect.equal(await trial.storage.write(end), True)
    expect.equal(await trial.storage.write(replace(end, outcome="error", at=moment(10), detail={})), False)
    ended = replace(begun, outcome="ok", ended_at=moment(9), detail={"步": [1]})
    expect.equal(await trial.storage.records.turn(trial.tenant, "turn"), ended)


@promise
async def beginning_a_turn_again_changes_nothing(trial: StorageTrial) -> None:
    await trial.storage.write(_turn(trial))
    await trial.storage.write(EndTurn(id="turn", tenant=trial.tenant, outcome="error", at=moment(9)))
    before = await trial.storage.records.turn(trial.tenant, "turn")
    await trial.storage.write(replace(_turn(trial), at=moment(99)))
    expect.equal(await trial.storage.records.turn(trial.tenant, "turn"), before)


@promise
async def a_turn_that_was_not_begun_in_the_tenant_cannot_end(trial: StorageTrial) -> None:
    await trial.storage.write(_turn(trial))
    for tenant, turn in ((trial.tenant, "absent"), (trial.tenant + "-other", "turn")):
        with expect.raising(NotFound):
            await trial.storage.write(EndTurn(id=turn, tenant=tenant, outcome="ok", at=moment()))


@promise
async def turns_and_touches_leave_no_message_and_no_change(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one"))
    head = await trial.storage.feed.head()
    end = EndTurn(id="turn", tenant=trial.tenant, outcome="ok", at=moment(1))
    await trial.storage.write(_turn(trial), end, Touch(tenant=trial.tenant, thread="t", at=moment(5)))
    expect.equal(await trial.storage.records.count(trial.tenant), 1)
    expect.equal([c for c in await trial.storage.feed.read(head, 100) if c.tenant == trial.tenant], [])


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
        expect.equal(_statuses(receipts), [(1, "recorded")])
        await trial.storage.write(append(f"{trial.tenant}/{name}", replace(said, id=name)))
        await trial.storage.write(replace(_turn(trial), id=name, thread=name))
    for name in DISTINCT_IDS:
        history = await _history(trial, Scope(trial.tenant, name))
        expect.equal([message.content for message in history], [name])
        (message,) = await trial.storage.records.messages(f"{trial.tenant}/{name}", list(DISTINCT_IDS))
        expect.equal((message.id, message.content), (name, name))
        expect.equal(expect.present(await trial.storage.records.turn(trial.tenant, name)).thread, name)


def _statuses(receipts: Receipts) -> list[tuple[int | None, str]]:
    return [(receipt.seq, receipt.status) for receipt in receipts.receipts]


async def _history(trial: StorageTrial, scope: Scope) -> list[Message]:
    return await trial.storage.records.history(scope, order="oldest", after=None, until=None, limit=1_000)


def _turn(trial: StorageTrial) -> BeginTurn:
    return BeginTurn(id="turn", tenant=trial.tenant, thread="t", user="lin", agent="seller", at=moment())


def _zone(hours: int) -> timezone:
    return timezone(timedelta(hours=hours))
