"""What a write is answered with: one honest receipt per message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["recorded", "duplicate", "spooled"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """``seq`` is absent while the message waits in the spool."""

    id: str
    seq: int | None
    status: Status


@dataclass(frozen=True, slots=True)
class Receipts:
    """The answer to one ingest: the thread it went to, and a receipt per message, in order."""

    thread: str
    receipts: tuple[Receipt, ...]
