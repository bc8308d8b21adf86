"""What people may import from ``rememberd`` is written down here; a change of it is a change for users."""

from __future__ import annotations

import rememberd

PUBLIC = {
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
}


def test_the_exported_names_are_those_written_down() -> None:
    assert set(rememberd.__all__) == PUBLIC


def test_every_exported_name_exists() -> None:
    assert all(hasattr(rememberd, name) for name in PUBLIC)
