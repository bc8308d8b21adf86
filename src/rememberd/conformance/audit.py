"""The promises of the audit log: every entry, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.ports.audit import Note

from . import expect
from .check import storage_promise
from .samples import ODD_STRINGS, audit_entry
from .trial import StorageTrial, moment

if TYPE_CHECKING:
    from rememberd.model import AuditEntry

promise = storage_promise("audit")


@promise
async def an_entry_comes_back_as_it_was_noted(trial: StorageTrial) -> None:
    detail = {"messages": 3, "took": 0.5, "ok": True, "who": None, "路": ["a", {"b": 1}]}
    full = audit_entry(trial.tenant, "query", user="lin", thread="t", detail=detail, at=moment(0.000_001))
    bare = audit_entry(trial.tenant)
    await trial.storage.write(Note(full), Note(bare))
    expect.equal(await trial.storage.audit.list(trial.tenant, before=None, limit=10), [bare, full])


@promise
async def entries_are_paged_newest_first_below_an_id(trial: StorageTrial) -> None:
    entries = [audit_entry(trial.tenant, f"{number}") for number in range(7)]
    for noted in (entries[3], *entries[:3], *entries[4:]):
        await trial.storage.write(Note(noted))
    read: list[AuditEntry] = []
    while page := await trial.storage.audit.list(trial.tenant, before=read[-1].id if read else None, limit=3):
        expect.true(len(page) <= 3, "a page is longer than its limit")
        read += page
    expect.equal(read, entries[::-1])


@promise
async def a_tenant_lists_its_own_entries_and_an_operator_all(trial: StorageTrial) -> None:
    mine, theirs = audit_entry(trial.tenant), audit_entry(trial.tenant + "-other")
    await trial.storage.write(Note(mine), Note(theirs))
    expect.equal(await trial.storage.audit.list(trial.tenant, before=None, limit=10), [mine])
    expect.equal(await trial.storage.audit.list(None, before=None, limit=2), [theirs, mine])
    expect.equal(await trial.storage.audit.list(trial.tenant + "-absent", before=None, limit=10), [])


@promise
async def odd_strings_stay_in_the_log(trial: StorageTrial) -> None:
    noted = [audit_entry(trial.tenant, user=odd[:100], detail={"text": odd}) for odd in ODD_STRINGS]
    await trial.storage.write(Note(noted[0]), *(Note(each) for each in noted[1:]))
    expect.equal(await trial.storage.audit.list(trial.tenant, before=None, limit=100), noted[::-1])


@promise
async def an_entry_is_no_change_of_the_feed(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    await trial.storage.write(Note(audit_entry(trial.tenant)))
    expect.equal([c for c in await trial.storage.feed.read(start, 100) if c.tenant == trial.tenant], [])
