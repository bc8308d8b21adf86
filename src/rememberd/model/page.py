"""A page of a list, and where the next one starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """``next`` is an opaque cursor for the same list of the same scope, or None at the end."""

    items: tuple[T, ...]
    next: str | None = None
