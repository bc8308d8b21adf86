"""The promises of jobs: owed once, held by one, never lost. Each check claims a task of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from rememberd.ports.jobs import Cancel, Claim, Enqueue, Fail, Finish, ForgetJobs, Heartbeat, Release, Retry

from . import expect
from .check import storage_promise
from .samples import ODD_STRINGS, append, job
from .trial import StorageTrial, moment, new_id

if TYPE_CHECKING:
    from rememberd.model import Job

promise = storage_promise("jobs")


@promise
async def a_job_comes_back_as_it_was_owed(trial: StorageTrial) -> None:
    payload = {"n": 1, "x": 0.5, "ok": True, "z": None, "列": [{"a": "b"}], "odd": list(ODD_STRINGS)}
    owed = job(trial.tenant, new_id(), payload=payload, max_attempts=2, due_at=moment(0.000_001))
    expect.equal(await trial.storage.write(Enqueue(job=owed)), True)
    expect.equal(await trial.storage.jobs.get(owed.id), owed)
    expect.equal(await trial.storage.jobs.get(new_id()), None)


@promise
async def a_job_is_owed_once(trial: StorageTrial) -> None:
    owed = job(trial.tenant, new_id())
    answers = await asyncio.gather(*(trial.storage.write(Enqueue(job=owed)) for _ in range(6)))
    expect.equal(sorted(answers), [False] * 5 + [True])
    expect.equal(await trial.storage.write(Enqueue(job=replace(owed, payload={"other": 1}))), False)
    expect.equal(await trial.storage.jobs.get(owed.id), owed)


@promise
async def a_job_is_owed_with_the_data_that_caused_it(trial: StorageTrial) -> None:
    owed = job(trial.tenant, new_id())
    await trial.storage.write(append(trial.tenant, "one"), Enqueue(job=owed))
    expect.equal(await trial.storage.jobs.get(owed.id), owed)


@promise
async def a_claim_leases_the_job_and_counts_an_attempt(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    claimed = await _claim(trial, owed.task, "lease-1", now=5)
    expected = replace(owed, state="running", attempts=1, lease="lease-1", leased_until=moment(15))
    expect.equal(claimed, expected)
    expect.equal(await trial.storage.jobs.get(owed.id), expected)


@promise
async def a_claim_takes_only_its_tasks(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    expect.equal(await _claim(trial, new_id()), None)
    claim = Claim(lease="l", now=moment(), lease_for=timedelta(seconds=1), tasks=())
    expect.equal(await trial.storage.write(claim), None)
    claimed = await trial.storage.write(replace(claim, tasks=(new_id(), owed.task)))
    expect.equal(expect.present(claimed).id, owed.id)


@promise
async def a_claim_takes_nothing_before_it_is_due(trial: StorageTrial) -> None:
    owed = await _owe(trial, due_at=moment(10))
    expect.equal(await _claim(trial, owed.task, now=9.999), None)
    expect.equal(expect.present(await _claim(trial, owed.task, now=10)).id, owed.id)


@promise
async def a_claim_takes_what_has_been_due_longest(trial: StorageTrial) -> None:
    task = new_id()
    for due in (30, 10, 20, 10):
        await _owe(trial, task=task, due_at=moment(due), payload={"due": due})
    taken = [expect.present(await _claim(trial, task, now=100)) for _ in range(4)]
    expect.equal([each.payload["due"] for each in taken], [10, 10, 20, 30])
    expect.true(taken[0].id < taken[1].id, "of two jobs due at once, the one owed later was claimed first")


@promise
async def no_two_claims_hold_the_same_job(trial: StorageTrial) -> None:
    task = new_id()
    owed = [await _owe(trial, task=task) for _ in range(10)]
    claims = await asyncio.gather(*(_claim(trial, task, f"lease-{number}") for number in range(25)))
    held = [claim for claim in claims if claim is not None]
    expect.equal(sorted(each.id for each in held), sorted(each.id for each in owed))
    expect.equal(len({each.lease for each in held}), 10)


@promise
async def a_job_whose_lease_ran_out_is_claimed_again(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    await _claim(trial, owed.task, "first", now=0)
    expect.equal(await _claim(trial, owed.task, "second", now=9.9), None)
    second = expect.present(await _claim(trial, owed.task, "second", now=10.1))
    expect.equal((second.id, second.lease, second.attempts), (owed.id, "second", 2))
    expect.equal(await trial.storage.write(Finish(id=owed.id, lease="first")), False)
    expect.equal(await trial.storage.write(Finish(id=owed.id, lease="second")), True)


@promise
async def a_job_whose_lease_ran_out_on_its_last_attempt_is_dead(trial: StorageTrial) -> None:
    owed = await _owe(trial, max_attempts=2)
    await _claim(trial, owed.task, now=0)
    await _claim(trial, owed.task, now=20)
    expect.equal(await _claim(trial, owed.task, now=40), None)
    dead = expect.present(await trial.storage.jobs.get(owed.id))
    expect.equal((dead.state, dead.attempts), ("dead", 2))


@promise
async def a_dead_job_does_not_keep_a_claim_from_the_next(trial: StorageTrial) -> None:
    exhausted = await _owe(trial, max_attempts=1)
    await _claim(trial, exhausted.task, now=0)
    following = await _owe(trial, task=exhausted.task, due_at=moment(5))
    expect.equal(expect.present(await _claim(trial, exhausted.task, now=40)).id, following.id)
    expect.equal(expect.present(await trial.storage.jobs.get(exhausted.id)).state, "dead")


@promise
async def the_tenant_with_the_fewest_running_jobs_goes_first(trial: StorageTrial) -> None:
    task, busy, quiet = new_id(), trial.tenant + "-busy", trial.tenant + "-quiet"
    for number in range(4):
        await trial.storage.write(Enqueue(job=job(busy, task, due_at=moment(number))))
    for number in range(2):
        await trial.storage.write(Enqueue(job=job(quiet, task, due_at=moment(50 + number))))
    claims = [expect.present(await _claim(trial, task, f"{number}", now=60)) for number in range(6)]
    expect.equal([each.tenant for each in claims], [busy, quiet, busy, quiet, busy, busy])


@promise
async def a_lease_that_ran_out_does_not_count_as_running(trial: StorageTrial) -> None:
    task, one, two = new_id(), trial.tenant + "-1", trial.tenant + "-2"
    await trial.storage.write(Enqueue(job=job(one, task, due_at=moment(0))))
    await _claim(trial, task, now=0)
    await trial.storage.write(Enqueue(job=job(two, task, due_at=moment(5))))
    expect.equal(expect.present(await _claim(trial, task, now=60)).tenant, one)


@promise
async def a_heartbeat_lengthens_the_lease_of_its_holder(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    await _claim(trial, owed.task, "mine", now=0)
    expect.equal(await trial.storage.write(Heartbeat(id=owed.id, lease="other", until=moment(99))), False)
    expect.equal(await trial.storage.write(Heartbeat(id=owed.id, lease="mine", until=moment(30))), True)
    expect.equal(await _claim(trial, owed.task, "other", now=20), None)
    expect.equal(expect.present(await _claim(trial, owed.task, "other", now=31)).lease, "other")
    expect.equal(await trial.storage.write(Heartbeat(id=owed.id, lease="mine", until=moment(99))), False)
    expect.equal(await trial.storage.write(Heartbeat(id=new_id(), lease="mine", until=moment(99))), False)


@promise
async def a_finished_job_is_done_and_not_claimed_again(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    expect.equal(await trial.storage.write(Finish(id=owed.id, lease="mine")), False)
    await _claim(trial, owed.task, "mine")
    expect.equal(await trial.storage.write(Finish(id=owed.id, lease="other")), False)
    expect.equal(await trial.storage.write(Finish(id=owed.id, lease="mine")), True)
    expect.equal(await trial.storage.write(Finish(id=owed.id, lease="mine")), False)
    expect.equal(expect.present(await trial.storage.jobs.get(owed.id)).state, "done")
    expect.equal(await _claim(trial, owed.task, now=1_000), None)


@promise
async def a_failed_job_waits_until_its_retry(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    await _claim(trial, owed.task, "mine")
    fail = Fail(id=owed.id, lease="mine", error="超时 'x'", retry_at=moment(60))
    expect.equal(await trial.storage.write(replace(fail, lease="other")), False)
    expect.equal(await trial.storage.write(fail), True)
    expect.equal(await trial.storage.write(fail), False)
    waiting = expect.present(await trial.storage.jobs.get(owed.id))
    expect.equal((waiting.state, waiting.attempts, waiting.error), ("waiting", 1, "超时 'x'"))
    expect.equal((waiting.due_at, waiting.lease, waiting.leased_until), (moment(60), None, None))
    expect.equal(await _claim(trial, owed.task, now=59), None)
    expect.equal(expect.present(await _claim(trial, owed.task, now=60)).attempts, 2)


@promise
async def a_job_that_fails_on_its_last_attempt_is_dead_with_its_reason(trial: StorageTrial) -> None:
    owed = await _owe(trial, max_attempts=1)
    await _claim(trial, owed.task, "mine")
    fail = Fail(id=owed.id, lease="mine", error="broken", retry_at=moment(1))
    expect.equal(await trial.storage.write(fail), True)
    dead = expect.present(await trial.storage.jobs.get(owed.id))
    expect.equal((dead.state, dead.error), ("dead", "broken"))
    expect.equal(await _claim(trial, owed.task, now=1_000), None)


@promise
async def a_job_that_is_given_back_can_be_claimed_at_once_as_if_it_had_not_been(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    await _claim(trial, owed.task, "mine")
    expect.equal(await trial.storage.write(Release(id=owed.id, lease="other")), False)
    expect.equal(await trial.storage.write(Release(id=owed.id, lease="mine")), True)
    expect.equal(await trial.storage.jobs.get(owed.id), owed)
    expect.equal(await trial.storage.write(Release(id=owed.id, lease="mine")), False)
    expect.equal(expect.present(await _claim(trial, owed.task, "other")).attempts, 1)


@promise
async def jobs_that_ended_long_ago_are_forgotten_and_dead_ones_stay(trial: StorageTrial) -> None:
    task, long_ago = new_id(), moment(-1_000_000_000)
    ended = [await _owe(trial, task=task, created_at=long_ago, max_attempts=1) for _ in range(4)]
    recent = await _owe(trial, task=task, created_at=moment(0))
    for lease in ("done", "dead"):
        await _claim(trial, task, lease)
    jobs = {each.id: each for each in await trial.storage.jobs.list(None, 100_000) if each.task == task}
    done, dead = (next(each.id for each in jobs.values() if each.lease == lease) for lease in ("done", "dead"))
    await trial.storage.write(Finish(id=done, lease="done"))
    await trial.storage.write(Fail(id=dead, lease="dead", error="broken", retry_at=moment()))
    cancelled, waiting = [each.id for each in ended if each.id not in (done, dead)]
    await trial.storage.write(Cancel(id=cancelled))
    await trial.storage.write(Cancel(id=recent.id))
    expect.equal(await trial.storage.write(ForgetJobs(owed_before=long_ago)), 0)
    expect.equal(await trial.storage.write(ForgetJobs(owed_before=long_ago + timedelta(seconds=1))), 2)
    left = {each.id for each in await trial.storage.jobs.list(None, 100_000) if each.task == task}
    expect.equal(left, {dead, waiting, recent.id})


@promise
async def a_waiting_or_running_job_can_be_cancelled(trial: StorageTrial) -> None:
    waiting = await _owe(trial)
    expect.equal(await trial.storage.write(Cancel(id=waiting.id)), True)
    expect.equal(await trial.storage.write(Cancel(id=waiting.id)), False)
    expect.equal(await _claim(trial, waiting.task, now=100), None)
    running = await _owe(trial)
    await _claim(trial, running.task, "mine")
    expect.equal(await trial.storage.write(Cancel(id=running.id)), True)
    expect.equal(await trial.storage.write(Finish(id=running.id, lease="mine")), False)
    expect.equal(await trial.storage.write(Heartbeat(id=running.id, lease="mine", until=moment(99))), False)
    expect.equal(expect.present(await trial.storage.jobs.get(running.id)).state, "cancelled")


@promise
async def a_job_that_ended_or_never_was_cannot_be_cancelled(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    await _claim(trial, owed.task, "mine")
    await trial.storage.write(Finish(id=owed.id, lease="mine"))
    expect.equal(await trial.storage.write(Cancel(id=owed.id)), False)
    expect.equal(await trial.storage.write(Cancel(id=new_id())), False)
    expect.equal(expect.present(await trial.storage.jobs.get(owed.id)).state, "done")


@promise
async def a_dead_or_cancelled_job_can_be_retried_with_its_attempts_forgotten(trial: StorageTrial) -> None:
    dead = await _owe(trial, max_attempts=1)
    await _claim(trial, dead.task, "mine")
    await trial.storage.write(Fail(id=dead.id, lease="mine", error="broken", retry_at=moment(1)))
    cancelled = await _owe(trial)
    await trial.storage.write(Cancel(id=cancelled.id))
    for ended in (dead, cancelled):
        expect.equal(await trial.storage.write(Retry(id=ended.id, due_at=moment(50))), True)
        again = expect.present(await trial.storage.jobs.get(ended.id))
        expect.equal((again.state, again.attempts, again.due_at), ("waiting", 0, moment(50)))
        expect.equal(await trial.storage.write(Retry(id=ended.id, due_at=moment(50))), False)
        expect.equal(await _claim(trial, ended.task, now=49), None)
        expect.equal(expect.present(await _claim(trial, ended.task, now=50)).attempts, 1)
    expect.equal(await trial.storage.write(Retry(id=new_id(), due_at=moment())), False)


@promise
async def jobs_are_listed_in_the_order_they_were_owed(trial: StorageTrial) -> None:
    task = new_id()
    owed = [await _owe(trial, task=task, due_at=moment(-n), created_at=moment(n)) for n in range(5)]
    await trial.storage.write(Cancel(id=owed[1].id))
    listed = [each.id for each in await trial.storage.jobs.list(None, 100_000) if each.task == task]
    expect.equal(listed, [each.id for each in owed])
    waiting = [each.id for each in await trial.storage.jobs.list("waiting", 100_000) if each.task == task]
    expect.equal(waiting, [each.id for each in owed if each is not owed[1]])
    expect.equal(len(await trial.storage.jobs.list(None, 3)), 3)


@promise
async def jobs_are_counted_by_state(trial: StorageTrial) -> None:
    before = await trial.storage.jobs.count()
    expect.true(all(before.values()), f"a state without jobs was counted: {before!r}")
    task = new_id()
    owed = [await _owe(trial, task=task) for _ in range(4)]
    await _claim(trial, task)
    await trial.storage.write(Cancel(id=owed[3].id))
    after = await trial.storage.jobs.count()
    gained = {state: after[state] - before.get(state, 0) for state in after}
    expect.equal({state: more for state, more in gained.items() if more}, {"waiting": 2, "running": 1, "cancelled": 1})


@promise
async def leases_outlive_a_reopen(trial: StorageTrial) -> None:
    owed = await _owe(trial)
    claimed = await _claim(trial, owed.task, "mine", now=0)
    await trial.reopen()
    expect.equal(await trial.storage.jobs.get(owed.id), claimed)
    expect.equal(await _claim(trial, owed.task, "other", now=5), None)
    expect.equal(await trial.storage.write(Finish(id=owed.id, lease="mine")), True)


@promise
async def jobs_are_no_changes_of_the_feed(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    owed = await _owe(trial)
    await _claim(trial, owed.task, "mine")
    await trial.storage.write(Finish(id=owed.id, lease="mine"))
    expect.equal([c for c in await trial.storage.feed.read(start, 100) if c.tenant == trial.tenant], [])


async def _owe(trial: StorageTrial, task: str | None = None, **fields: object) -> Job:
    owed = job(trial.tenant, task or new_id(), **fields)
    await trial.storage.write(Enqueue(job=owed))
    return owed


async def _claim(trial: StorageTrial, task: str, lease: str = "lease", now: float = 0) -> Job | None:
    """Claim a job of the task for ten seconds."""
    return await trial.storage.write(
        Claim(lease=lease, now=moment(now), lease_for=timedelta(seconds=10), tasks=(task,))
    )
