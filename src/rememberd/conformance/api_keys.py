"""The promises of API keys: kept, listed, revoked once."""

from __future__ import annotations

from dataclasses import replace

from rememberd.ports.api_keys import AddApiKey, RevokeApiKey

from . import expect
from .check import storage_promise
from .samples import api_key
from .trial import StorageTrial, moment, new_id

promise = storage_promise("api_keys")


@promise
async def an_api_key_comes_back_as_it_was_added(trial: StorageTrial) -> None:
    tenants, operators = api_key(trial.tenant, digest="d" * 64), api_key(None, operator=True)
    await trial.storage.write(AddApiKey(tenants), AddApiKey(operators))
    expect.equal(await trial.storage.api_keys.get(tenants.id), tenants)
    expect.equal(await trial.storage.api_keys.get(operators.id), operators)
    expect.equal(await trial.storage.api_keys.get(new_id()), None)


@promise
async def api_keys_are_listed_oldest_first(trial: StorageTrial) -> None:
    keys = [api_key(trial.tenant, created_at=moment(number)) for number in range(4)]
    for each in (keys[2], keys[0], keys[3], keys[1]):
        await trial.storage.write(AddApiKey(each))
    listed = [each for each in await trial.storage.api_keys.list() if each.tenant == trial.tenant]
    expect.equal(listed, keys)


@promise
async def an_api_key_is_revoked_once(trial: StorageTrial) -> None:
    added = api_key(trial.tenant)
    await trial.storage.write(AddApiKey(added))
    expect.equal(await trial.storage.write(RevokeApiKey(added.id, moment(1))), True)
    expect.equal(await trial.storage.write(RevokeApiKey(added.id, moment(2))), False)
    expect.equal(await trial.storage.write(RevokeApiKey(new_id(), moment(1))), False)
    expect.equal(await trial.storage.api_keys.get(added.id), replace(added, revoked_at=moment(1)))


@promise
async def a_revoked_api_key_stays_revoked_and_listed_after_a_reopen(trial: StorageTrial) -> None:
    added = api_key(trial.tenant)
    await trial.storage.write(AddApiKey(added), RevokeApiKey(added.id, moment(1)))
    await trial.reopen()
    listed = [each for each in await trial.storage.api_keys.list() if each.tenant == trial.tenant]
    expect.equal(listed, [replace(added, revoked_at=moment(1))])
