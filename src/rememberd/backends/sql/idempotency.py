"""Idempotency keys: what each stood for the first time it was used."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, insert, select

from rememberd.errors import IdempotencyConflict

from .dialect import Statement, in_list
from .schema import idempotency_keys as keys
from .values import string_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .transaction import Reader, Transaction

_FIND = Statement(
    select(keys.c.idempotency_key, keys.c.digest, keys.c.answer, keys.c.thread, keys.c.seq)
    .where(keys.c.tenant == bindparam("tenant"))
    .where(in_list(keys.c.idempotency_key, "wanted"))
)
_ADD = Statement(insert(keys))


class FirstUse(NamedTuple):
    """What a key stood for: the digest of what was sent, and what it was answered with.

    ``seq`` is the sequence number of a message, or the revision of a memory item.
    """

    digest: bytes
    answer: str
    thread: str | None
    seq: int | None


async def first_uses(reader: Reader, tenant: str, wanted: Sequence[str]) -> dict[str, FirstUse]:
    if not wanted:
        return {}
    rows = await reader.rows(_FIND, tenant=tenant, wanted=string_list(wanted))
    return {key: FirstUse(bytes(digest), *rest) for key, digest, *rest in rows}


def check_same(key: str, use: FirstUse, digest: bytes) -> None:
    if use.digest != digest:
        raise IdempotencyConflict(f"the idempotency key {key!r} was used for another request; use a new one")


async def remember_use(transaction: Transaction, tenant: str, key: str, use: FirstUse) -> None:
    await transaction.run(_ADD, tenant=tenant, idempotency_key=key, **use._asdict())
