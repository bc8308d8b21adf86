"""The promises of vectors: kept as they are, one per thing and lane."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd.ports.vectors import PutVectors, Vector

from . import expect
from .check import storage_promise
from .samples import floats, vector

if TYPE_CHECKING:
    from .trial import StorageTrial

promise = storage_promise("vectors")


@promise
async def vectors_come_back_bit_for_bit(trial: StorageTrial) -> None:
    odd = vector(trial.tenant, "m", 0.1, -1.0, 3.4e38, 1e-45, 0.0, -0.0)
    long = vector(trial.tenant, "long", *(number / 7 for number in range(1_024)))
    await trial.storage.write(PutVectors(vectors=(odd, long)))
    expect.equal(await _get(trial, "m", "long"), {("message", "m", "en"): odd, ("message", "long", "en"): long})
    await trial.reopen()
    expect.equal(await _get(trial, "m"), {("message", "m", "en"): odd})


@promise
async def a_vector_replaces_the_one_of_the_same_thing_and_lane(trial: StorageTrial) -> None:
    first, other_lane = vector(trial.tenant, "m", 1, 0), vector(trial.tenant, "m", 0, 1, lane="zh")
    await trial.storage.write(PutVectors(vectors=(first, other_lane)))
    second = replace(first, model="another", data=floats(0, 1))
    await trial.storage.write(PutVectors(vectors=(second,)))
    expect.equal(await _get(trial, "m"), {("message", "m", "en"): second, ("message", "m", "zh"): other_lane})


@promise
async def vectors_of_other_tenants_nouns_and_ids_are_apart(trial: StorageTrial) -> None:
    other = trial.tenant + "-other"
    mine, memory = vector(trial.tenant, "m", 1), vector(trial.tenant, "m", 2, noun="memory")
    await trial.storage.write(PutVectors(vectors=(mine, memory, vector(other, "m", 3), vector(trial.tenant, "M", 4))))
    expect.equal(await _get(trial, "m"), {("message", "m", "en"): mine, ("memory", "m", "en"): memory})
    expect.equal(await trial.storage.vectors.get(trial.tenant, []), [])
    expect.equal(await trial.storage.vectors.get(trial.tenant, ["absent"]), [])


@promise
async def putting_vectors_says_so_once_per_thing(trial: StorageTrial) -> None:
    start = await trial.storage.feed.head()
    lanes = tuple(vector(trial.tenant, "m", 1, lane=lane) for lane in ("a", "b", "c"))
    await trial.storage.write(PutVectors(vectors=lanes))
    await trial.storage.write(PutVectors(vectors=lanes[:1]))
    changes = [c for c in await trial.storage.feed.read(start, 100) if c.tenant == trial.tenant]
    expect.equal([(change.id, change.operation) for change in changes], [("m", "embed")] * 2)


async def _get(trial: StorageTrial, *ids: str) -> dict[tuple[str, str, str], Vector]:
    found = await trial.storage.vectors.get(trial.tenant, ids)
    expect.equal(len({(each.noun, each.id, each.lane) for each in found}), len(found))
    return {(each.noun, each.id, each.lane): each for each in found}
