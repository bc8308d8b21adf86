"""Vectors on SQL, and the spaces they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlalchemy import bindparam, delete, insert, select, update

from rememberd.errors import Conflict, NotFound
from rememberd.ports.vectors import Space, Vector, served, wanted

from .dialect import Addition, Statement, in_list, integer
from .schema import followers, spaces, vectors
from .transaction import announce
from .values import json_text, json_value, string_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rememberd.model.change import Noun
    from rememberd.ports.vectors import DropVectors, PutVectors, Serve, SpaceState, Want

    from .storage import Executor
    from .transaction import Reader, Row, Transaction

_GET = Statement(select(vectors).where(vectors.c.tenant == bindparam("tenant"), in_list(vectors.c.id, "ids")))
_DROP = Statement(
    delete(vectors).where(
        vectors.c.tenant == bindparam("tenant"),
        vectors.c.id == bindparam("id"),
        vectors.c.noun == bindparam("noun"),
        vectors.c.lane == bindparam("lane"),
        vectors.c.model == bindparam("model"),
    )
)
_PUT = Addition(vectors, replacing=True)
_IN_SPACE = Statement(
    select(vectors.c.tenant, vectors.c.noun, vectors.c.id)
    .where(vectors.c.lane == bindparam("lane"), vectors.c.model == bindparam("model"))
    .limit(integer("limit"))
)
_SPACES = Statement(select(spaces).order_by(spaces.c.lane, spaces.c.model))
_ADD_SPACE = Statement(insert(spaces))
_MOVE_SPACE = Statement(
    update(spaces)
    .where(spaces.c.lane == bindparam("of_lane"), spaces.c.model == bindparam("of_model"))
    .values(state=bindparam("to_state"), recipe=bindparam("by"))
)
_DROP_SPACE = Statement(delete(spaces).where(spaces.c.lane == bindparam("lane"), spaces.c.model == bindparam("model")))
_DROP_FOLLOWER = Statement(delete(followers).where(followers.c.follower == bindparam("who")))


class SqlVectors:
    def __init__(self, executor: Executor) -> None:
        self._read = executor.read

    async def get(self, tenant: str, ids: Sequence[str]) -> list[Vector]:
        if not ids:
            return []
        rows = await self._read(lambda reader: reader.rows(_GET, tenant=tenant, ids=string_list(ids)))
        return [
            Vector(tenant=tenant, noun=noun, id=id_, lane=lane, model=model, data=bytes(data))
            for tenant, id_, noun, lane, model, data in rows
        ]

    async def spaces(self) -> dict[Space, SpaceState]:
        return await self._read(_spaces)


async def _spaces(reader: Reader) -> dict[Space, SpaceState]:
    rows = await reader.rows(_SPACES)
    return {Space(lane, model, json_value(recipe)): state for lane, model, state, recipe in rows}


async def put_vectors(transaction: Transaction, op: PutVectors) -> None:
    changed: list[tuple[str, Noun, str]] = []
    for vector in op.vectors:
        if vector.data:
            row = (vector.tenant, vector.id, vector.noun, vector.lane, vector.model, vector.data)
            transaction.add(_PUT, row)
        elif not await transaction.run(
            _DROP, tenant=vector.tenant, id=vector.id, noun=vector.noun, lane=vector.lane, model=vector.model
        ):
            continue
        changed.append((vector.tenant, vector.noun, vector.id))
    await _announce(transaction, changed)


async def want(transaction: Transaction, op: Want) -> None:
    before = await _spaces(transaction)
    await _move(transaction, before, wanted(before, op.spaces))


async def serve(transaction: Transaction, op: Serve) -> bool:
    before = await _spaces(transaction)
    after = served(before, op.coming)
    if after is None:
        return False
    await _move(transaction, before, after)
    return True


async def drop_vectors(transaction: Transaction, op: DropVectors) -> int:
    space = Space(op.lane, op.model)
    state = (await _spaces(transaction)).get(space)
    if state is None:
        raise NotFound(f"there are no vectors of {space.name}")
    if state != "kept":
        raise Conflict(f"the vectors of {space.name} are {state}, so they cannot be dropped")
    rows: list[Row] = await transaction.rows(_IN_SPACE, lane=op.lane, model=op.model, limit=op.limit)
    for tenant, noun, id_ in rows:
        await transaction.run(_DROP, tenant=tenant, id=id_, noun=noun, lane=op.lane, model=op.model)
    await _announce(transaction, (cast("tuple[str, Noun, str]", row) for row in rows))
    if len(rows) < op.limit:
        await transaction.run(_DROP_SPACE, lane=op.lane, model=op.model)
        await transaction.run(_DROP_FOLLOWER, who=space.follower)
    return len(rows)


async def _move(
    transaction: Transaction, before: Mapping[Space, SpaceState], after: Mapping[Space, SpaceState]
) -> None:
    recipes = {space: space.recipe for space in before}
    for space, state in after.items():
        recipe = json_text(dict(space.recipe))
        if space not in before:
            await transaction.run(_ADD_SPACE, lane=space.lane, model=space.model, state=state, recipe=recipe)
        elif (state, space.recipe) != (before[space], recipes[space]):
            await transaction.run(_MOVE_SPACE, of_lane=space.lane, of_model=space.model, to_state=state, by=recipe)


async def _announce(transaction: Transaction, things: Iterable[tuple[str, Noun, str]]) -> None:
    for tenant, noun, id_ in dict.fromkeys(things):
        await announce(transaction, tenant, noun, id_, "embed")
