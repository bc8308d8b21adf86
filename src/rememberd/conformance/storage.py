"""The promises of the storage itself: all or nothing, in order, kept."""

from __future__ import annotations

import asyncio

from rememberd.errors import IdempotencyConflict, NotFound, StaleRevision, ThreadTaken
from rememberd.model import Scope
from rememberd.ports.api_keys import AddApiKey
from rememberd.ports.audit import Note
from rememberd.ports.jobs import Enqueue
from rememberd.ports.records import BeginTurn, EndTurn, Touch
from rememberd.ports.vectors import PutVectors

from . import expect
from .check import storage_promise
from .samples import api_key, append, audit_entry, entry, job, put, vector
from .trial import StorageTrial, moment, new_id

promise = storage_promise("storage")


@promise
async def the_storage_answers_and_says_what_it_is(trial: StorageTrial) -> None:
    await trial.storage.check()
    expect.true(bool(trial.storage.description), "the description is empty")
    expect.true(isinstance(trial.storage.exclusive, bool), "exclusive is not a bool")


@promise
async def a_write_answers_the_result_of_its_first_operation(trial: StorageTrial) -> None:
    receipts = await trial.storage.write(
        append(trial.tenant, "hello"), put(trial.tenant), Note(audit_entry(trial.tenant))
    )
    expect.equal([receipt.seq for receipt in receipts.receipts], [1])
    stored = await trial.storage.write(put(trial.tenant, "likes coffee"), append(trial.tenant, "again"))
    expect.equal(stored.text, "likes coffee")


@promise
async def a_later_operation_sees_what_an_earlier_one_of_the_same_write_did(trial: StorageTrial) -> None:
    turn = new_id()
    begin = BeginTurn(id=turn, tenant=trial.tenant, thread="t", user="lin", agent=None, at=moment())
    await trial.storage.write(
        append(trial.tenant, "one"),
        append(trial.tenant, "two"),
        begin,
        EndTurn(id=turn, tenant=trial.tenant, outcome="ok", at=moment(1)),
    )
    state = expect.present(await trial.storage.records.thread(trial.tenant, "t"))
    expect.equal(state.last_seq, 2)
    expect.equal(expect.present(await trial.storage.records.turn(trial.tenant, turn)).outcome, "ok")


@promise
async def an_operation_that_fails_undoes_the_whole_write(trial: StorageTrial) -> None:
    storage, tenant = trial.storage, trial.tenant
    owed, memory, first, api = job(tenant, new_id()), put(tenant), entry("never", key="k"), api_key(tenant)
    head = await storage.feed.head()
    with expect.raising(NotFound):
        await storage.write(
            append(tenant, first),
            memory,
            PutVectors(vectors=(vector(tenant, first.id, 1, 0),)),
            Enqueue(job=owed),
            Note(audit_entry(tenant)),
            AddApiKey(api),
            BeginTurn(id="begun", tenant=tenant, thread="t", user="lin", agent=None, at=moment()),
            EndTurn(id="never begun", tenant=tenant, outcome="ok", at=moment()),
        )
    expect.equal(await storage.records.thread(tenant, "t"), None)
    expect.equal(await storage.records.messages(tenant, [first.id]), [])
    expect.equal(await storage.records.turn(tenant, "begun"), None)
    expect.equal(await storage.holdings.get(tenant, memory.item.id), None)
    expect.equal(await storage.vectors.get(tenant, [first.id]), [])
    expect.equal(await storage.jobs.get(owed.id), None)
    expect.equal(await storage.audit.list(tenant, before=None, limit=10), [])
    expect.equal(await storage.api_keys.get(api.id), None)
    expect.equal([c for c in await storage.feed.read(head, 100) if c.tenant == tenant], [])
    receipts = await storage.write(append(tenant, entry("another body", key="k")))
    expect.equal([(receipt.seq, receipt.status) for receipt in receipts.receipts], [(1, "recorded")])


@promise
async def every_conflict_undoes_the_operations_before_it(trial: StorageTrial) -> None:
    storage, tenant = trial.storage, trial.tenant
    held = put(tenant)
    await storage.write(append(tenant, entry("first", key="k")), held)
    stale = put(tenant, id=held.item.id, revision=1)
    conflicts = (
        (IdempotencyConflict, append(tenant, entry("other", key="k"))),
        (ThreadTaken, append(tenant, "mine", user="mei")),
        (StaleRevision, stale),
    )
    for error, conflicting in conflicts:
        with expect.raising(error):
            await storage.write(append(tenant, "undone"), conflicting)
        with expect.raising(error):
            await storage.write(Note(audit_entry(tenant)), conflicting)
    expect.equal(await storage.records.count(tenant), 1)
    expect.equal(await storage.audit.list(tenant, before=None, limit=10), [])


@promise
async def a_failing_write_does_not_disturb_those_beside_it(trial: StorageTrial) -> None:
    storage, tenant = trial.storage, trial.tenant
    await storage.write(append(tenant, "mine", thread="taken", user="mei"))
    good = [append(tenant, f"good {number}", thread="good") for number in range(12)]
    bad = [append(tenant, "bad", thread="taken") for _ in range(12)]
    mixed = [operation for pair in zip(good, bad, strict=True) for operation in pair]
    answers = await asyncio.gather(*(storage.write(operation) for operation in mixed), return_exceptions=True)
    expect.equal([type(answer) for answer in answers[1::2]], [ThreadTaken] * 12)
    expect.equal([answer for answer in answers[::2] if isinstance(answer, BaseException)], [])
    messages = await storage.records.tail(tenant, "good", 0, 100)
    expect.equal([message.seq for message in messages], list(range(1, 13)))


@promise
async def a_write_that_returned_is_read_at_once(trial: StorageTrial) -> None:
    for number in range(1, 6):
        await trial.storage.write(append(trial.tenant, f"message {number}"))
        expect.equal(await trial.storage.records.count(trial.tenant), number)


@promise
async def what_is_written_soon_is_there_soon(trial: StorageTrial) -> None:
    note = audit_entry(trial.tenant)
    trial.storage.write_soon(Note(note))
    for _ in range(40):
        if await trial.storage.audit.list(trial.tenant, before=None, limit=1) == [note]:
            return
        await asyncio.sleep(0.05)
    expect.true(False, "what was to be written soon was not there after two seconds")


@promise
async def closing_finishes_what_was_to_be_written_soon(trial: StorageTrial) -> None:
    notes = [audit_entry(trial.tenant, f"query {number}") for number in range(20)]
    for note in notes:
        trial.storage.write_soon(Note(note))
    await trial.reopen()
    listed = await trial.storage.audit.list(trial.tenant, before=None, limit=100)
    expect.equal(listed, notes[::-1])


@promise
async def a_write_soon_keeps_its_place_among_the_writes(trial: StorageTrial) -> None:
    storage, tenant = trial.storage, trial.tenant
    await storage.write(append(tenant, "hello"))
    storage.write_soon(Touch(tenant=tenant, thread="t", at=moment(60), session_from=1))
    storage.write_soon(Touch(tenant=tenant, thread="t", at=moment(90), session_from=0))
    await trial.reopen()
    state = expect.present(await trial.storage.records.thread(tenant, "t"))
    expect.equal((state.session_from, state.last_used), (0, moment(90)))


@promise
async def a_reopened_storage_has_kept_everything(trial: StorageTrial) -> None:
    storage, tenant = trial.storage, trial.tenant
    start = await storage.feed.head()
    first, memory, owed, api = entry("kept", key="k"), put(tenant), job(tenant, new_id()), api_key(tenant)
    await storage.write(
        append(tenant, first),
        memory,
        PutVectors(vectors=(vector(tenant, first.id, 1, 0),)),
        Enqueue(job=owed),
        Note(audit_entry(tenant)),
        AddApiKey(api),
        BeginTurn(id="turn", tenant=tenant, thread="t", user="lin", agent=None, at=moment()),
    )

    async def everything() -> list[object]:
        now = trial.storage
        return [
            await now.records.history(Scope(tenant, "lin"), order="oldest", after=None, until=None, limit=9),
            await now.records.thread(tenant, "t"),
            await now.records.turn(tenant, "turn"),
            await now.holdings.versions(tenant, memory.item.id),
            await now.vectors.get(tenant, [first.id]),
            await now.jobs.get(owed.id),
            await now.audit.list(tenant, before=None, limit=9),
            await now.api_keys.get(api.id),
            [change for change in await now.feed.read(start, 100) if change.tenant == tenant],
        ]

    before = await everything()
    expect.true(all(before), f"something was not stored at all: {before!r}")
    await trial.reopen()
    expect.equal(await everything(), before)
    receipts = await trial.storage.write(append(tenant, first, "next"))
    expect.equal([(each.seq, each.status) for each in receipts.receipts], [(1, "duplicate"), (2, "recorded")])
