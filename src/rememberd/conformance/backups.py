"""The promises of backups: made while it is being written to, whole, and refused when they are damaged."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from rememberd.errors import DamagedStore
from rememberd.ports.backups import Seal

from . import expect
from .check import backups_promise
from .samples import append

if TYPE_CHECKING:
    from .trial import BackupsTrial


@backups_promise
async def everything_acknowledged_before_is_in_a_backup_though_others_write(trial: BackupsTrial) -> None:
    first = await trial.storage.write(append(trial.tenant, "one", "two"))
    ended = asyncio.Event()

    async def write() -> None:
        while not ended.is_set():
            await trial.storage.write(append(trial.tenant, "more"))

    writing = asyncio.create_task(write())
    archive = await _archive(trial)
    ended.set()
    await writing
    async with trial.restored(archive) as restored:
        found = await restored.records.messages(trial.tenant, [receipt.id for receipt in first.receipts])
        expect.equal([message.content for message in found], ["one", "two"])


@backups_promise
async def a_restored_storage_goes_on_where_the_backup_was_made(trial: BackupsTrial) -> None:
    await trial.storage.write(append(trial.tenant, "one", thread="t"))
    head = await trial.storage.feed.head()
    async with trial.restored(await _archive(trial)) as restored:
        expect.equal(await restored.feed.head(), head)
        receipts = await restored.write(append(trial.tenant, "two", thread="t"))
        expect.equal(receipts.receipts[0].seq, 2)
    expect.equal(await trial.storage.feed.head(), head)


@backups_promise
async def an_archive_ends_with_its_seal(trial: BackupsTrial) -> None:
    seal = Seal()
    seal.through(await _archive(trial))
    expect.true(seal.whole, "the last bytes are not the SHA-256 of those before")


@backups_promise
async def a_damaged_archive_is_refused(trial: BackupsTrial) -> None:
    archive = await _archive(trial)
    for place in (0, len(archive) // 2, len(archive) - 65, len(archive) - 1):
        flipped = bytearray(archive)
        flipped[place] ^= 1
        with expect.raising(DamagedStore):
            async with trial.restored(bytes(flipped)):
                pass
    with expect.raising(DamagedStore):
        async with trial.restored(archive[:-1]):
            pass


@backups_promise
async def a_backup_that_is_given_up_is_no_obstacle_for_the_next(trial: BackupsTrial) -> None:
    async with aclosing(trial.backups.pieces()) as pieces:
        await anext(pieces)
    async with trial.restored(await _archive(trial)) as restored:
        expect.equal(await restored.feed.head(), await trial.storage.feed.head())


async def _archive(trial: BackupsTrial) -> bytes:
    async with aclosing(trial.backups.pieces()) as pieces:
        return b"".join([piece.data async for piece in pieces])
