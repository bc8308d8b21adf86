"""rememberd: the memory of AI agents, as a library and a server."""

from __future__ import annotations

from . import blocking, errors
from .connect import connect
from .memory import Handle, Memory
from .model import (
    Context,
    Filters,
    Hit,
    MemoryItem,
    Message,
    NewMemory,
    NewMessage,
    Page,
    Query,
    Receipt,
    Receipts,
    Scope,
)
from .version import __version__

__all__ = [
    "Context",
    "Filters",
    "Handle",
    "Hit",
    "Memory",
    "MemoryItem",
    "Message",
    "NewMemory",
    "NewMessage",
    "Page",
    "Query",
    "Receipt",
    "Receipts",
    "Scope",
    "__version__",
    "blocking",
    "connect",
    "errors",
]
