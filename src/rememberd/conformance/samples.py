"""Ready-made operations and values for checks: what a check does not care about has a default."""

from __future__ import annotations

import math
import struct
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from rememberd.model import ApiKey, AuditEntry, Job, MemoryItem, Role
from rememberd.ports.audit import Note
from rememberd.ports.holdings import Put
from rememberd.ports.index import Document
from rememberd.ports.records import Append, BeginTurn, Entry
from rememberd.ports.spool import SpooledCall
from rememberd.ports.vectors import Vector

from .trial import moment, new_id

if TYPE_CHECKING:
    from rememberd.model import Receipts
    from rememberd.model.change import Noun

HOUR = timedelta(hours=1)

#: Strings that engines like to bend: by collation, normalisation, escaping, width or length.
ODD_STRINGS = (
    "😀👩‍👩‍👧",
    "𠮷野家で𪚥を食べる",
    "quotes ' \" ` and ; -- $1 ? :name %s {x}",
    "100%_of\\them \\n \\\\",
    "a:b/c?d=e&f#g",
    "line\nbreak\ttab\r\nend",
    " leading and trailing ",
    "null",
    "long " + "语" * 20_000,
)

#: How far a cosine may be off, where an engine keeps vectors in fewer bits.
COSINE_ERROR = 0.02

#: Ids that a careless engine takes for the same.
DISTINCT_IDS = ("A", "a", "\u00e9", "e\u0301", "x", "x ", " x", "a:b", "a%3Ab", "a_b", "a%b", "ß", "ss", "１", "1")


def entry(
    content: str = "hello", *, role: Role = "user", key: str | None = None, digest: bytes | None = None, **fields: Any
) -> Entry:
    """An entry; with an idempotency key its digest stands for the content unless given."""
    own_digest = content.encode() if digest is None else digest
    return Entry(
        **{"id": new_id(), "at": moment(), **fields}, role=role, content=content, idempotency_key=key, digest=own_digest
    )


def append(
    tenant: str,
    *entries: Entry | str,
    thread: str = "t",
    user: str | None = "lin",
    agent: str | None = None,
    at: datetime | None = None,
    made_up: bool = False,
) -> Append:
    return Append(
        tenant=tenant,
        thread=thread,
        user=user,
        agent=agent,
        entries=tuple(each if isinstance(each, Entry) else entry(each) for each in entries),
        recorded_at=at or moment(),
        session_ttl=HOUR,
        thread_made_up=made_up,
    )


def spooled(append: Append, *, begin: BeginTurn | None = None) -> SpooledCall:
    """The call that would have written this."""
    return SpooledCall(
        id=new_id(),
        tenant=append.tenant,
        user=append.user,
        thread=append.thread,
        at=append.recorded_at,
        note=Note(audit_entry(append.tenant)),
        append=append,
        begin=begin,
    )


def item(tenant: str, text: str = "likes tea", **fields: Any) -> MemoryItem:
    defaults: dict[str, Any] = {
        "id": new_id(),
        "revision": 1,
        "user": "lin",
        "agent": None,
        "thread": None,
        "kind": "fact",
        "source": None,
        "importance": 0.5,
        "topic": None,
        "domain": None,
        "at": moment(),
        "revised_at": moment(),
    }
    return MemoryItem(tenant=tenant, text=text, **{**defaults, **fields})


def put(tenant: str, text: str = "likes tea", **fields: Any) -> Put:
    return Put(item=item(tenant, text, **fields))


def vector(tenant: str, thing: str, *numbers: float, noun: Noun = "message", lane: str = "en") -> Vector:
    return Vector(tenant=tenant, noun=noun, id=thing, lane=lane, model="hash", data=floats(*numbers))


def floats(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def unit(*numbers: float) -> bytes:
    """The vector of this direction and length 1, as embedders make them."""
    return floats(*(number / math.hypot(*numbers) for number in numbers))


def job(tenant: str, task: str, **fields: Any) -> Job:
    return Job(**{"id": new_id(), "due_at": moment(), "created_at": moment(), **fields}, tenant=tenant, task=task)


def audit_entry(tenant: str, action: str = "ingest", **fields: Any) -> AuditEntry:
    return AuditEntry(**{"id": new_id(), "at": moment(), "actor": "someone", **fields}, tenant=tenant, action=action)


def api_key(tenant: str | None = None, **fields: Any) -> ApiKey:
    return ApiKey(**{"id": new_id(), "digest": "d", "operator": False, "created_at": moment(), **fields}, tenant=tenant)


def document(tenant: str, *terms: str, **fields: Any) -> Document:
    defaults: dict[str, Any] = {
        "noun": "message",
        "id": new_id(),
        "user": "lin",
        "agent": None,
        "thread": "t",
        "kind": "message",
        "role": "user",
        "topic": None,
        "domain": None,
        "source": None,
        "at": moment(),
    }
    return Document(tenant=tenant, terms=terms, **{**defaults, **fields})


def statuses(receipts: Receipts) -> list[tuple[int | None, str]]:
    """What each receipt says."""
    return [(receipt.seq, receipt.status) for receipt in receipts.receipts]
