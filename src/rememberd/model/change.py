"""One line of the feed: which thing changed, how, at which position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Noun = Literal["message", "memory"]
Operation = Literal["put", "delete", "embed"]


@dataclass(frozen=True, slots=True)
class Change:
    """``embed`` says that vectors of the thing were stored; its text did not change."""

    position: int
    tenant: str
    noun: Noun
    id: str
    operation: Operation
