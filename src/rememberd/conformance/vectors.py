"""The promises of vectors: kept as they are, one per thing, lane and model; and of which of them serve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd.errors import Conflict, NotFound
from rememberd.ports.feed import Advance
from rememberd.ports.vectors import DropVectors, PutVectors, Serve, Space, Vector, Want

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
async def a_vector_replaces_the_one_of_the_same_thing_lane_and_model(trial: StorageTrial) -> None:
    first, other_lane = vector(trial.tenant, "m", 1, 0), vector(trial.tenant, "m", 0, 1, lane="zh")
    other_model = replace(first, model="another")
    await trial.storage.write(PutVectors(vectors=(first, other_lane, other_model)))
    second = replace(first, data=floats(0, 1))
    await trial.storage.write(PutVectors(vectors=(second,)))
    kept = await trial.storage.vectors.get(trial.tenant, ["m"])
    expect.equal({each.space: each for each in kept}, {each.space: each for each in (second, other_lane, other_model)})


@promise
async def a_vector_without_data_lets_go_of_the_one_of_its_space(trial: StorageTrial) -> None:
    first, other = vector(trial.tenant, "m", 1, 0), vector(trial.tenant, "m", 0, 1, lane="zh")
    await trial.storage.write(PutVectors(vectors=(first, other)))
    start = await trial.storage.feed.head()
    gone = (replace(first, data=b""), replace(first, id="absent", data=b""))
    await trial.storage.write(PutVectors(vectors=gone))
    await trial.storage.write(PutVectors(vectors=gone))
    expect.equal(await _get(trial, "m", "absent"), {("message", "m", "zh"): other})
    expect.equal([change.id for change in await trial.storage.feed.read(start, 100)], ["m"])


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


@promise
async def spaces_keep_their_state_and_recipe(trial: StorageTrial) -> None:
    one, two = _fresh(trial, "one"), _fresh(trial, "two")
    await _serve_only(trial, one, two)
    await trial.reopen()
    expect.equal(await _states(trial, one, two), ["serving", "serving"])
    recipes = {space: dict(space.recipe) for space in await trial.storage.vectors.spaces()}
    expect.equal(recipes[one], {"embedder": "one"})
    await trial.storage.write(Want((replace(one, recipe={"embedder": "other"}), two)))
    recipes = {space: dict(space.recipe) for space in await trial.storage.vectors.spaces()}
    expect.equal((recipes[one], recipes[two]), ({"embedder": "other"}, {"embedder": "two"}))


@promise
async def what_is_wanted_next_is_coming_until_it_serves(trial: StorageTrial) -> None:
    stays, goes, comes = (_fresh(trial, name) for name in ("stays", "goes", "comes"))
    await _serve_only(trial, stays, goes)
    await trial.storage.write(Want((stays, comes)))
    expect.equal(await _states(trial, stays, goes, comes), ["serving", "going", "coming"])
    expect.equal(await trial.storage.write(Serve(frozenset((goes,)))), False)
    expect.equal(await _states(trial, stays, goes, comes), ["serving", "going", "coming"])
    expect.equal(await trial.storage.write(Serve(frozenset((comes,)))), True)
    expect.equal(await _states(trial, stays, goes, comes), ["serving", "kept", "serving"])


@promise
async def a_wish_can_be_taken_back(trial: StorageTrial) -> None:
    old, new = _fresh(trial, "old"), _fresh(trial, "new")
    await _serve_only(trial, old)
    await trial.storage.write(Want((new,)))
    await trial.storage.write(Want((old,)))
    expect.equal(await _states(trial, old, new), ["serving", "kept"])
    expect.equal(await trial.storage.write(Serve(frozenset((new,)))), False)


@promise
async def a_space_that_is_no_longer_wanted_goes_at_once_if_nothing_is_coming(trial: StorageTrial) -> None:
    one, two = _fresh(trial, "one"), _fresh(trial, "two")
    await _serve_only(trial, one, two)
    await trial.storage.write(Want((one,)))
    expect.equal(await _states(trial, one, two), ["serving", "kept"])


@promise
async def only_kept_vectors_are_dropped_and_the_space_with_the_last(trial: StorageTrial) -> None:
    old, new = _fresh(trial, "old"), _fresh(trial, "new")
    await _serve_only(trial, old)
    made = tuple(
        replace(vector(trial.tenant, thing, 1), lane=space.lane, model=space.model)
        for thing in ("a", "b", "c")
        for space in (old, new)
    )
    await trial.storage.write(PutVectors(vectors=made), Advance(old.follower, 7))
    with expect.raising(Conflict):
        await trial.storage.write(DropVectors(old.lane, old.model, 2))
    with expect.raising(NotFound):
        await trial.storage.write(DropVectors(old.lane, "unheard", 2))
    await _serve_only(trial, new)
    start = await trial.storage.feed.head()
    expect.equal(await trial.storage.write(DropVectors(old.lane, old.model, 2)), 2)
    expect.equal(await _states(trial, old), ["kept"])
    expect.equal(await trial.storage.write(DropVectors(old.lane, old.model, 2)), 1)
    kept = await trial.storage.vectors.get(trial.tenant, ["a", "b", "c"])
    expect.equal({each.space for each in kept}, {new.name})
    expect.equal(old in await trial.storage.vectors.spaces(), False)
    expect.equal(await trial.storage.feed.reached(old.follower), 0)
    changes = await trial.storage.feed.read(start, 100)
    expect.equal(sorted((change.id, change.operation) for change in changes), [(thing, "embed") for thing in "abc"])


def _fresh(trial: StorageTrial, name: str) -> Space:
    """A space that no other trial has."""
    return Space(name, trial.tenant, {"embedder": name})


async def _states(trial: StorageTrial, *spaces: Space) -> list[str | None]:
    found = await trial.storage.vectors.spaces()
    return [found.get(space) for space in spaces]


async def _coming(trial: StorageTrial) -> frozenset[Space]:
    return frozenset(space for space, state in (await trial.storage.vectors.spaces()).items() if state == "coming")


async def _serve_only(trial: StorageTrial, *spaces: Space) -> None:
    await trial.storage.write(Want(spaces))
    await trial.storage.write(Serve(await _coming(trial)))


async def _get(trial: StorageTrial, *ids: str) -> dict[tuple[str, str, str], Vector]:
    found = await trial.storage.vectors.get(trial.tenant, ids)
    expect.equal(len({(each.noun, each.id, each.lane) for each in found}), len(found))
    return {(each.noun, each.id, each.lane): each for each in found}
