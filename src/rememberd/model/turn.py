"""A turn: one request to an agent and what became of it. In the record it is two entries, begun and ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .context import Context
from .receipt import Receipt

Outcome = Literal["ok", "error"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that has begun: the receipt of its message, and what memory recalled for it."""

    id: str
    thread: str
    receipt: Receipt | None
    context: Context
