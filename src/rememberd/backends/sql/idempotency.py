"""Idempotency keys: what each stood for the first time it was used."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, select

from rememberd.errors import IdempotencyConflict

from .dialect import Addition, Statement, in_list
from .schema import idempotency_keys as keys
from .transaction import learn
from .values import string_list

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .transaction import Address, Reader, Transaction

_FIND = Statement(
    select(keys.c.idempotency_key, keys.c.digest, keys.c.answer, keys.c.thread, keys.c.seq)
    .where(keys.c.tenant == bindparam("tenant"))
    .where(in_list(keys.c.idempotency_key, "wanted"))
)
_ADD = Addition(keys)


class FirstUse(NamedTuple):
    """What a key stood for: the digest of what was sent, and what it was answered with.

    ``seq`` is the sequence number of a message, or the revision of a memory item.
    """

    digest: bytes
    answer: str
    thread: str | None
    seq: int | None


async def _find(reader: Reader, tenant: str, wanted: Iterable[str]) -> dict[str, FirstUse]:
    rows = await reader.rows(_FIND, tenant=tenant, wanted=string_list(wanted))
    return {key: FirstUse(bytes(digest), *rest) for key, digest, *rest in rows}


async def learn_uses(transaction: Transaction, wanted: Iterable[Address]) -> None:
    await learn(transaction, transaction.uses, wanted, _find)


async def first_uses(transaction: Transaction, tenant: str, wanted: Iterable[str]) -> dict[str, FirstUse]:
    """The first uses of those of the keys that were used."""
    addresses = [(tenant, key) for key in wanted]
    await learn_uses(transaction, addresses)
    return {key: use for _, key in addresses if (use := transaction.uses[tenant, key]) is not None}


def check_same(key: str, use: FirstUse, digest: bytes) -> None:
    if use.digest != digest:
        raise IdempotencyConflict(f"the idempotency key {key!r} was used for another request; use a new one")


def remember_use(transaction: Transaction, tenant: str, key: str, use: FirstUse) -> None:
    transaction.uses[tenant, key] = use
    transaction.add(_ADD, (tenant, key, *use))
