"""From messages as they were handed in to one append to the record."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from rememberd.ports.records import Append, Entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from rememberd.model import NewMessage, Scope
    from rememberd.ports.surroundings import Ids

_canonical = msgspec.json.Encoder(order="sorted")


def append_of(
    scope: Scope,
    messages: Sequence[NewMessage],
    idempotency_key: str | None,
    *,
    now: datetime,
    ids: Ids,
    session_ttl: timedelta,
) -> Append:
    """The append that records these messages. Without a thread, one is made up.

    The request's idempotency key stands for message i as ``key#i``, unless the message brings its own. A message with
    a key gets the id that a repeat of it gets: where the first try is out of sight, as it is for the spool, both are
    still one message.
    """
    entries = []
    for i, message in enumerate(messages):
        key = message.idempotency_key
        if key is None and idempotency_key is not None:
            key = f"{idempotency_key}#{i}"
        digest = b"" if key is None else digest_of(scope, _sent(message))
        entries.append(
            Entry(
                id=ids() if key is None else _id_of(scope.tenant, key, digest),
                role=message.role,
                name=message.name,
                content=message.content,
                at=message.at or now,
                metadata=message.metadata,
                idempotency_key=key,
                digest=digest,
            )
        )
    return Append(
        tenant=scope.tenant,
        thread=scope.thread or ids(),
        user=scope.user,
        agent=scope.agent,
        entries=tuple(entries),
        recorded_at=now,
        session_ttl=session_ttl,
        thread_made_up=scope.thread is None,
    )


def digest_of(scope: Scope, sent: Any) -> bytes:
    """Stands for what was sent, and for nothing that we filled in."""
    canonical = _canonical.encode([scope.user, scope.agent, scope.thread, sent])
    return hashlib.blake2b(canonical, digest_size=16).digest()


def _id_of(tenant: str, idempotency_key: str, digest: bytes) -> str:
    stands_for = hashlib.blake2b(f"{tenant}\0{idempotency_key}\0".encode() + digest, digest_size=16).digest()
    return str(UUID(bytes=stands_for, version=5))


def _sent(message: NewMessage) -> list[Any]:
    return [message.role, message.name, message.content, message.at, message.metadata]
