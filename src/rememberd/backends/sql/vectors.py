"""Vectors on SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select

from rememberd.ports.vectors import PutVectors, Vector

from .dialect import Statement, in_list
from .schema import vectors
from .transaction import announce
from .values import string_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .storage import Executor
    from .transaction import Transaction

_GET = Statement(select(vectors).where(vectors.c.tenant == bindparam("tenant"), in_list(vectors.c.id, "ids")))
_DROP = Statement(
    delete(vectors).where(
        vectors.c.tenant == bindparam("tenant"),
        vectors.c.id == bindparam("id"),
        vectors.c.noun == bindparam("noun"),
        vectors.c.lane == bindparam("lane"),
    )
)
_ADD = Statement(insert(vectors))


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


async def put_vectors(transaction: Transaction, op: PutVectors) -> None:
    for vector in op.vectors:
        await transaction.run(_DROP, tenant=vector.tenant, id=vector.id, noun=vector.noun, lane=vector.lane)
        await transaction.run(
            _ADD, tenant=vector.tenant, id=vector.id, lane=vector.lane, noun=vector.noun, model=vector.model,
            data=vector.data,
        )  # fmt: skip
    for tenant, noun, id_ in dict.fromkeys((vector.tenant, vector.noun, vector.id) for vector in op.vectors):
        await announce(transaction, tenant, noun, id_, "embed")
