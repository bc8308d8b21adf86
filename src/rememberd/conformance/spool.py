"""The promises of the spool: order, durability across a close, dead letters; and of replaying, which is harmless."""

from __future__ import annotations

from dataclasses import replace

from rememberd.errors import IdempotencyConflict, NotFound, StorageUnavailable
from rememberd.model import Receipts
from rememberd.ports.records import BeginTurn, EndTurn
from rememberd.ports.spool import Attempt, DeadLetter, Replay, SpooledCall

from . import expect
from .check import spool_promise, storage_promise
from .samples import ODD_STRINGS, append, entry, spooled
from .trial import SpoolTrial, StorageTrial, moment, new_id

promise = spool_promise
replaying = storage_promise("replay")


async def _waiting(trial: SpoolTrial) -> list[SpooledCall]:
    return [call async for call in trial.spool.waiting()]


async def _added(trial: SpoolTrial, number: int) -> list[SpooledCall]:
    calls = [spooled(append(trial.tenant, f"message {i}")) for i in range(number)]
    for call in calls:
        await trial.spool.add(call)
    return calls


def _letter(call: SpooledCall, reason: str = "conflict") -> DeadLetter:
    return DeadLetter(call=call, last=Attempt(id=call.id, number=5, reason=reason, detail="no, 不行", at=moment(60)))


@promise
async def calls_wait_in_the_order_they_were_added(trial: SpoolTrial) -> None:
    calls = await _added(trial, 250)
    expect.equal(await _waiting(trial), calls)
    expect.equal(trial.spool.usage().waiting, 250)


@promise
async def a_call_comes_back_as_it_was_after_a_close(trial: SpoolTrial) -> None:
    entries = [entry(text, key=f"k{i}", metadata={"n": i, "深": [text]}) for i, text in enumerate(ODD_STRINGS)]
    turn = BeginTurn(id=new_id(), tenant=trial.tenant, thread="t", user="lin", agent="a", at=moment(1))
    end = EndTurn(id=turn.id, tenant=trial.tenant, outcome="error", at=moment(2), detail={"why": "因为"})
    calls = [
        spooled(append(trial.tenant, *entries, agent="a", made_up=True), begin=turn),
        replace(spooled(append(trial.tenant, "x")), append=None, end=end),
    ]
    for call in calls:
        await trial.spool.add(call)
    await trial.reopen()
    expect.equal(await _waiting(trial), calls)


@promise
async def calls_are_read_in_the_order_asked_for_and_unknown_ones_left_out(trial: SpoolTrial) -> None:
    one, two, three = await _added(trial, 3)
    await trial.spool.remove([two.id])
    expect.equal(await trial.spool.read([three.id, new_id(), two.id, one.id]), [three, one])


@promise
async def a_removed_call_waits_no_longer(trial: SpoolTrial) -> None:
    one, two, three = await _added(trial, 3)
    await trial.spool.remove([one.id, three.id])
    expect.equal(await _waiting(trial), [two])
    await trial.reopen()
    expect.equal(await _waiting(trial), [two])
    await trial.spool.remove([two.id])
    expect.equal(await _waiting(trial), [])


@promise
async def the_last_attempt_is_known_until_the_call_is_gone(trial: SpoolTrial) -> None:
    one, two = await _added(trial, 2)
    refusals = [Attempt(id=one.id, number=i, reason="r", detail="为什么", at=moment(i)) for i in (1, 2)]
    for refusal in refusals:
        await trial.spool.note(refusal)
    await trial.reopen()
    expect.equal([await trial.spool.last_attempt(call.id) for call in (one, two)], [refusals[-1], None])
    await trial.spool.remove([one.id])
    expect.equal(await trial.spool.last_attempt(one.id), None)


@promise
async def a_buried_call_is_a_dead_letter_and_waits_no_longer(trial: SpoolTrial) -> None:
    one, two, three = await _added(trial, 3)
    await trial.spool.bury(_letter(two))
    await trial.spool.bury(_letter(one, "unavailable"))
    for _ in range(2):
        expect.equal(await _waiting(trial), [three])
        expect.equal(await trial.spool.dead_letters(), [_letter(two), _letter(one, "unavailable")])
        expect.equal(await trial.spool.dead_letters([one.id, new_id()]), [_letter(one, "unavailable")])
        expect.equal((trial.spool.usage().waiting, trial.spool.usage().dead), (1, 2))
        await trial.reopen()


@promise
async def a_discarded_letter_is_gone_for_good(trial: SpoolTrial) -> None:
    one, two = await _added(trial, 2)
    for call in (one, two):
        await trial.spool.bury(_letter(call))
    expect.equal(await trial.spool.discard([one.id, new_id()]), 1)
    expect.equal(await trial.spool.discard([one.id]), 0)
    await trial.reopen()
    expect.equal(await trial.spool.dead_letters(), [_letter(two)])
    expect.equal(await trial.spool.discard([two.id]), 1)
    await trial.reopen()
    expect.equal((await trial.spool.dead_letters(), await _waiting(trial)), ([], []))


@promise
async def a_dead_letter_can_wait_again(trial: SpoolTrial) -> None:
    one, two = await _added(trial, 2)
    await trial.spool.bury(_letter(one))
    await trial.spool.add(one)
    await trial.spool.discard([one.id])
    for _ in range(2):
        expect.equal(await _waiting(trial), [two, one])
        expect.equal(await trial.spool.last_attempt(one.id), None)
        await trial.reopen()


@promise
async def a_closed_spool_takes_nothing(trial: SpoolTrial) -> None:
    await trial.spool.close()
    with expect.raising(StorageUnavailable):
        await trial.spool.add(spooled(append(trial.tenant, "late")))


@replaying
async def a_replayed_call_is_recorded_as_it_would_have_been(trial: StorageTrial) -> None:
    one, two = (spooled(append(trial.tenant, f"message {i}")) for i in range(2))
    receipts = await trial.storage.write(Replay(calls=(one, two)))
    expect.equal([expect.present(answer).receipts[0].seq for answer in receipts], [1, 2])
    tail = await trial.storage.records.tail(trial.tenant, "t", 0, 10)
    expect.equal([message.content for message in tail], ["message 0", "message 1"])
    noted = await trial.storage.audit.list(trial.tenant, before=None, limit=10)
    expect.equal({each.id for each in noted}, {one.note.entry.id, two.note.entry.id})


@replaying
async def replaying_again_changes_nothing(trial: StorageTrial) -> None:
    calls = tuple(spooled(append(trial.tenant, f"message {i}")) for i in range(3))
    await trial.storage.write(Replay(calls=calls[:2]))
    receipts = await trial.storage.write(Replay(calls=calls))
    expect.equal(receipts[:2], (None, None))
    expect.equal(expect.present(receipts[2]).receipts[0].seq, 3)
    expect.equal(await trial.storage.records.count(trial.tenant), 3)


@replaying
async def a_call_that_was_written_before_it_was_spooled_is_not_written_again(trial: StorageTrial) -> None:
    call = spooled(append(trial.tenant, "one", "two"))
    await trial.storage.write(expect.present(call.append), call.note)
    expect.equal(await trial.storage.write(Replay(calls=(call,))), (None,))
    expect.equal(await trial.storage.records.count(trial.tenant), 2)


@replaying
async def of_a_call_that_repeats_a_message_the_others_are_recorded(trial: StorageTrial) -> None:
    first = entry("first", key="k")
    await trial.storage.write(append(trial.tenant, first))
    call = spooled(append(trial.tenant, first, entry("second", key="l")))
    (answer,) = await trial.storage.write(Replay(calls=(call,)))
    expect.equal([receipt.status for receipt in expect.present(answer).receipts], ["duplicate", "recorded"])
    expect.equal(await trial.storage.records.count(trial.tenant), 2)


@replaying
async def one_call_that_fails_undoes_the_whole_replay(trial: StorageTrial) -> None:
    await trial.storage.write(append(trial.tenant, entry("first", key="k")))
    calls = (spooled(append(trial.tenant, "fine")), spooled(append(trial.tenant, entry("second", key="k"))))
    with expect.raising(IdempotencyConflict):
        await trial.storage.write(Replay(calls=calls))
    expect.equal(await trial.storage.records.count(trial.tenant), 1)


@replaying
async def a_replayed_turn_begins_and_ends_once(trial: StorageTrial) -> None:
    turn = BeginTurn(id=new_id(), tenant=trial.tenant, thread="t", user="lin", agent=None, at=moment())
    end = EndTurn(id=turn.id, tenant=trial.tenant, outcome="ok", at=moment(2), detail={"n": 1})
    begun = spooled(append(trial.tenant, "question"), begin=turn)
    ended = replace(spooled(append(trial.tenant, "x")), append=None, end=end)
    expect.equal((await trial.storage.write(Replay(calls=(begun, ended))))[1], Receipts("t", ()))
    expect.equal(await trial.storage.write(Replay(calls=(begun, ended))), (None, None))
    state = expect.present(await trial.storage.records.turn(trial.tenant, turn.id))
    expect.equal((state.outcome, state.detail), ("ok", {"n": 1}))


@replaying
async def only_a_turn_of_the_same_user_and_thread_is_ended(trial: StorageTrial) -> None:
    turn = BeginTurn(id=new_id(), tenant=trial.tenant, thread="t", user="lin", agent=None, at=moment())
    await trial.storage.write(turn)
    end = EndTurn(id=turn.id, tenant=trial.tenant, outcome="ok", at=moment(2))
    for user, thread in (("mei", "t"), ("lin", "u")):
        call = replace(spooled(append(trial.tenant, "x", user=user, thread=thread)), append=None, end=end)
        with expect.raising(NotFound):
            await trial.storage.write(Replay(calls=(call,)))
    expect.equal(expect.present(await trial.storage.records.turn(trial.tenant, turn.id)).outcome, None)
