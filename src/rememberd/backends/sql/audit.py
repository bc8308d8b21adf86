"""The audit log on SQL."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select

from rememberd.model import AuditEntry

from .dialect import Addition, Statement, integer
from .schema import audit_logs
from .values import json_text, json_value, micros, moment

if TYPE_CHECKING:
    from rememberd.ports.audit import Note

    from .storage import Executor
    from .transaction import Transaction

_ADD = Addition(audit_logs)
_AFTER_ALL_IDS = "~"  # sorts behind every uuid


@functools.cache
def _listed(*, by_tenant: bool) -> Statement:
    listed = select(audit_logs).where(audit_logs.c.id < bindparam("below"))
    if by_tenant:
        listed = listed.where(audit_logs.c.tenant == bindparam("tenant"))
    return Statement(listed.order_by(audit_logs.c.id.desc()).limit(integer("limit")))


class SqlAudit:
    def __init__(self, executor: Executor) -> None:
        self._read = executor.read

    async def list(self, tenant: str | None, *, before: str | None, limit: int) -> list[AuditEntry]:
        values = {"below": before or _AFTER_ALL_IDS, "limit": limit}
        if tenant is not None:
            values["tenant"] = tenant
        rows = await self._read(lambda reader: reader.rows(_listed(by_tenant=tenant is not None), **values))
        return [
            AuditEntry(
                id=id_, at=moment(at), tenant=tenant, actor=actor, action=action, user=user, thread=thread,
                detail=json_value(detail),
            )
            for tenant, id_, at, actor, action, user, thread, detail in rows
        ]  # fmt: skip


async def note(transaction: Transaction, op: Note) -> None:
    entry = op.entry
    transaction.add(
        _ADD,
        (
            entry.tenant, entry.id, micros(entry.at), entry.actor, entry.action, entry.user, entry.thread,
            json_text(entry.detail),
        ),
    )  # fmt: skip
