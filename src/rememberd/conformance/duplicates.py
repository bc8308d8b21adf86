"""What every record promises of messages that are sent twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from rememberd.errors import IdempotencyConflict

from . import expect
from .check import storage_promise
from .samples import append, entry, put, statuses
from .trial import StorageTrial, moment

promise = storage_promise("records")


@promise
async def a_duplicate_is_answered_with_the_first_receipt(trial: StorageTrial) -> None:
    first = await trial.storage.write(append(trial.tenant, "before", entry("once", key="k")))
    second = await trial.storage.write(append(trial.tenant, entry("once", key="k"), "after"))
    expect.equal(second.receipts[0], replace(first.receipts[1], status="duplicate"))
    expect.equal(statuses(second), [(2, "duplicate"), (3, "recorded")])
    expect.equal(await trial.storage.records.count(trial.tenant), 3)


@promise
async def a_key_used_twice_within_one_append_is_a_duplicate(trial: StorageTrial) -> None:
    first = entry("once", key="k")
    receipts = await trial.storage.write(append(trial.tenant, first, entry("once", key="k"), "other"))
    expect.equal(statuses(receipts), [(1, "recorded"), (1, "duplicate"), (2, "recorded")])
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
    expect.equal(statuses(other), [(1, "recorded")])


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
    said = sorted(statuses(answer)[0] for answer in answers)
    expect.equal(said, [(1, "duplicate")] * 11 + [(1, "recorded")])
    expect.equal(len({answer.receipts[0].id for answer in answers}), 1)


@promise
async def a_known_key_brings_back_the_thread_that_was_made_up(trial: StorageTrial) -> None:
    first = await trial.storage.write(append(trial.tenant, entry("once", key="k"), thread="made-1", made_up=True))
    retry = append(trial.tenant, "new", entry("once", key="k"), thread="made-2", made_up=True)
    second = await trial.storage.write(retry)
    expect.equal((first.thread, second.thread), ("made-1", "made-1"))
    expect.equal(statuses(second), [(2, "recorded"), (1, "duplicate")])
    expect.equal(await trial.storage.records.thread(trial.tenant, "made-2"), None)


@promise
async def a_made_up_thread_without_a_known_key_stays(trial: StorageTrial) -> None:
    receipts = await trial.storage.write(append(trial.tenant, entry("new", key="n"), thread="made", made_up=True))
    expect.equal((receipts.thread, statuses(receipts)), ("made", [(1, "recorded")]))
