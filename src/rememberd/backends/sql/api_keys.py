"""API keys on SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select, update

from rememberd.model import ApiKey

from .dialect import Statement, integer
from .schema import api_keys
from .values import maybe_micros, maybe_moment, micros, moment

if TYPE_CHECKING:
    from rememberd.ports.api_keys import AddApiKey, RevokeApiKey

    from .storage import Executor
    from .transaction import Row, Transaction

_GET = Statement(select(api_keys).where(api_keys.c.id == bindparam("wanted")))
_LIST = Statement(select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id))
_ADD = Statement(insert(api_keys))
_REVOKE = Statement(
    update(api_keys)
    .where(api_keys.c.id == bindparam("wanted"), api_keys.c.revoked_at.is_(None))
    .values(revoked_at=integer("moment"))
)


def _api_key(row: Row) -> ApiKey:
    id_, digest, tenant, operator, created_at, revoked_at = row
    return ApiKey(
        id=id_, digest=digest, tenant=tenant, operator=bool(operator), created_at=moment(created_at),
        revoked_at=maybe_moment(revoked_at),
    )  # fmt: skip


class SqlApiKeys:
    def __init__(self, executor: Executor) -> None:
        self._read = executor.read

    async def get(self, api_key_id: str) -> ApiKey | None:
        rows = await self._read(lambda reader: reader.rows(_GET, wanted=api_key_id))
        return _api_key(rows[0]) if rows else None

    async def list(self) -> list[ApiKey]:
        return [_api_key(row) for row in await self._read(lambda reader: reader.rows(_LIST))]


async def add_api_key(transaction: Transaction, op: AddApiKey) -> None:
    key = op.api_key
    await transaction.run(
        _ADD, id=key.id, digest=key.digest, tenant=key.tenant, operator=int(key.operator),
        created_at=micros(key.created_at), revoked_at=maybe_micros(key.revoked_at),
    )  # fmt: skip


async def revoke_api_key(transaction: Transaction, op: RevokeApiKey) -> bool:
    return await transaction.run(_REVOKE, wanted=op.id, moment=micros(op.at)) == 1
