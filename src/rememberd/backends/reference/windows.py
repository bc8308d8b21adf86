"""Windows in process, the least recently used dropped first. Quick: following an append costs what was appended."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from rememberd.model import Message, Receipts, ThreadState, WindowRule
from rememberd.ports.windows import HeldWindow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rememberd.ports.records import Append

Address = tuple[str, str]


@dataclass(slots=True)
class _Window:
    """A window that grows in place."""

    user: str | None
    last_seq: int
    session_from: int
    last_used: datetime
    messages: deque[Message]

    def used(self, at: datetime) -> None:
        if at > self.last_used:
            self.last_used = at

    def fits(self, append: Append, first_seq: int) -> bool:
        return first_seq == self.last_seq + 1 and append.user == self.user

    def begin_session(self) -> None:
        self.session_from = self.last_seq
        self.messages.clear()

    def add(self, messages: Iterable[Message], size: int) -> None:
        if self.messages.maxlen != size:
            self.messages = deque(self.messages, size)
        for message in messages:
            self.last_seq = message.seq
            if message.role != "system":
                self.messages.append(message)


class ReferenceWindows:
    """At most ``capacity`` windows; none at 0.

    A window that was read before an append and put after it would tell less than the record. So the last sequence
    number of threads that were appended to while not held is remembered, and an older window is not taken.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._windows: OrderedDict[Address, _Window] = OrderedDict()
        self._passed_by: OrderedDict[Address, int] = OrderedDict()

    async def get(self, tenant: str, thread: str) -> HeldWindow | None:
        window = self._use((tenant, thread))
        if window is None:
            return None
        state = ThreadState(
            tenant=tenant,
            thread=thread,
            user=window.user,
            last_seq=window.last_seq,
            session_from=window.session_from,
            last_used=window.last_used,
        )
        return HeldWindow(state, tuple(window.messages))

    async def put(self, window: HeldWindow, rule: WindowRule) -> None:
        state = window.state
        address = (state.tenant, state.thread)
        if state.last_seq < self._known_seq(address):
            return
        self._passed_by.pop(address, None)
        self._windows[address] = _Window(
            state.user, state.last_seq, state.session_from, state.last_used, deque(window.messages, rule.size)
        )
        _keep_latest(self._windows, address, self._capacity)

    async def extend(self, append: Append, receipts: Receipts, rule: WindowRule) -> None:
        seqs = [receipt.seq for receipt in receipts.receipts if receipt.status == "recorded" and receipt.seq]
        if not seqs:
            return
        address = (append.tenant, receipts.thread)
        window = self._use(address)
        if window is None or not window.fits(append, seqs[0]):
            self._pass_by(address, seqs[-1])
            return
        messages = _recorded(append, receipts)
        if append.recorded_at - window.last_used > append.session_ttl:
            window.begin_session()
        window.add(messages, rule.size)
        window.used(append.recorded_at)

    async def touch(self, tenant: str, thread: str, at: datetime) -> None:
        window = self._use((tenant, thread))
        if window is not None:
            window.used(at)

    async def clear(self) -> None:
        self._windows.clear()

    def _use(self, address: Address) -> _Window | None:
        window = self._windows.get(address)
        if window is not None:
            self._windows.move_to_end(address)
        return window

    def _known_seq(self, address: Address) -> int:
        held = self._windows.get(address)
        return held.last_seq if held is not None else self._passed_by.get(address, 0)

    def _pass_by(self, address: Address, seq: int) -> None:
        self._passed_by[address] = max(seq, self._known_seq(address))
        self._windows.pop(address, None)
        _keep_latest(self._passed_by, address, self._capacity)


def _recorded(append: Append, receipts: Receipts) -> list[Message]:
    """The messages that the append recorded; their positions are not known here."""
    return [
        Message(
            id=entry.id,
            tenant=append.tenant,
            thread=receipts.thread,
            seq=receipt.seq,
            user=append.user,
            agent=append.agent,
            role=entry.role,
            name=entry.name,
            content=entry.content,
            at=entry.at,
            recorded_at=append.recorded_at,
            metadata=entry.metadata,
        )
        for entry, receipt in zip(append.entries, receipts.receipts, strict=True)
        if receipt.status == "recorded" and receipt.seq is not None
    ]


def _keep_latest(
    entries: OrderedDict[Address, _Window] | OrderedDict[Address, int], address: Address, capacity: int
) -> None:
    """Let ``address`` be the latest, and drop the least recently used beyond the capacity."""
    entries.move_to_end(address)
    while len(entries) > capacity:
        entries.popitem(last=False)
