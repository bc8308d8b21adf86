"""What every record promises of threads, their sessions and turns."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from rememberd.errors import NotFound, ThreadTaken
from rememberd.model import Receipts
from rememberd.ports.records import BeginTurn, EndTurn, Touch, TurnState

from . import expect
from .check import storage_promise
from .samples import append, entry, statuses
from .trial import StorageTrial, moment

promise = storage_promise("records")


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
    expect.equal(statuses(await trial.storage.write(append(trial.tenant, "two", agent="b"))), [(2, "recorded")])


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


def _turn(trial: StorageTrial) -> BeginTurn:
    return BeginTurn(id="turn", tenant=trial.tenant, thread="t", user="lin", agent="seller", at=moment())
