"""Windows held ready: a view that may forget at any time, but never tells anything else than the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rememberd.model import Message, Receipts, ThreadState, WindowRule

if TYPE_CHECKING:
    from datetime import datetime

    from .records import Append


@dataclass(frozen=True, slots=True)
class HeldWindow:
    """The state of a thread and the last messages of its session, oldest first, as of its last use.

    The positions of messages that an append added are not known here: 0.
    """

    state: ThreadState
    messages: tuple[Message, ...]


class Windows(Protocol):
    async def get(self, tenant: str, thread: str) -> HeldWindow | None:
        """The window as it was put and extended; None if it is not held."""
        ...

    async def put(self, window: HeldWindow, rule: WindowRule) -> None:
        """Hold a window, replacing what was held of the thread; may drop others to make room.

        A window that was read before an append which ``extend`` has followed since is not held.
        """
        ...

    async def extend(self, append: Append, receipts: Receipts, rule: WindowRule) -> None:
        """Follow an append: add what it recorded to the window, if the thread's window is held.

        A new session begins where the append's ttl says so. What does not fit the held state drops the window.
        """
        ...

    async def touch(self, tenant: str, thread: str, at: datetime) -> None:
        """Note that the window was used."""
        ...

    async def clear(self) -> None:
        """Forget all windows."""
        ...
