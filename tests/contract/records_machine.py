"""Random appends, touches and turns on two places, and windows that follow them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from rememberd.model import Message, Receipts, Scope, WindowRule
from rememberd.ports.records import Append, BeginTurn, EndTurn, Entry, Order, Touch
from rememberd.ports.windows import HeldWindow, Windows

from .comparison import AGENTS, DIGESTS, KEYS, TTL, USERS, Comparison, Side

if TYPE_CHECKING:
    from rememberd.conformance import Place
    from rememberd.ports.storage import Write

    from .conftest import Drive

THREADS = ("a", "A", "线程")
TURNS = ("turn-1", "turn-2")
ROLES = st.sampled_from(["user", "assistant", "system", "tool"])

Sent = tuple[Any, str | None, bytes]


class RecordsMachine(Comparison):
    """Appends, touches and turns; afterwards everything that can be read of the record is compared."""

    @rule(
        thread=st.sampled_from(THREADS),
        user=st.sampled_from(USERS),
        agent=st.sampled_from(AGENTS),
        sent=st.lists(st.tuples(ROLES, KEYS, DIGESTS), min_size=1, max_size=4),
        made_up=st.booleans(),
        later=st.sampled_from([-5, 0, 1, 60, 100, 101]),
    )
    def append(
        self, thread: str, user: str | None, agent: str | None, sent: list[Sent], made_up: bool, later: int
    ) -> None:
        self.seconds += later
        operation = Append(
            tenant=self.tenant,
            thread=thread,
            user=user,
            agent=agent,
            entries=tuple(self._entry(*each) for each in sent),
            recorded_at=self.now,
            session_ttl=TTL,
            thread_made_up=made_up,
        )
        self._write(operation)

    @rule(
        thread=st.sampled_from(THREADS),
        later=st.sampled_from([-5, 0, 60, 101]),
        session_from=st.sampled_from([None, 0, 1]),
    )
    def touch(self, thread: str, later: int, session_from: int | None) -> None:
        self.seconds += later
        self._write(Touch(tenant=self.tenant, thread=thread, at=self.now, session_from=session_from))

    @rule(turn=st.sampled_from(TURNS), thread=st.sampled_from(THREADS), user=st.sampled_from(USERS))
    def begin_turn(self, turn: str, thread: str, user: str | None) -> None:
        self._write(BeginTurn(id=turn, tenant=self.tenant, thread=thread, user=user, agent=None, at=self.now))

    @rule(turn=st.sampled_from(TURNS), outcome=st.sampled_from(["ok", "error"]))
    def end_turn(self, turn: str, outcome: Any) -> None:
        self._write(EndTurn(id=turn, tenant=self.tenant, outcome=outcome, at=self.now, detail={"n": self.seconds}))

    @rule()
    def reopen(self) -> None:
        self.drive(self.other.reopen())

    @rule(
        user=st.sampled_from(USERS),
        order=st.sampled_from(["newest", "oldest"]),
        rank=st.sampled_from([None, 0, 1, 3, 99]),
        limit=st.integers(0, 4),
        ago=st.sampled_from([None, 0, 60]),
    )
    def page_history(self, user: str | None, order: Order, rank: int | None, limit: int, ago: int | None) -> None:
        until = None if ago is None else self.now - timedelta(seconds=ago)
        scope = Scope(self.tenant, user)
        self.both(
            lambda side: side.storage.records.history(
                scope, order=order, after=side.position(rank), until=until, limit=limit
            )
        )

    @invariant()
    def everything_readable_is_the_same(self) -> None:
        self.both(self._everything)

    async def _everything(self, side: Side) -> list[object]:
        records, tenant = side.storage.records, self.tenant
        scopes = [Scope(tenant, user, agent) for user in USERS for agent in AGENTS]
        return [
            await side.changes(),
            await records.count(tenant),
            [await records.turn(tenant, turn) for turn in TURNS],
            [await records.thread(tenant, thread) for thread in THREADS],
            [await records.tail(tenant, thread, after, 3) for thread in THREADS for after in (0, 2)],
            [await records.neighbours(tenant, thread, (1, 2, 4)) for thread in THREADS],
            [
                await records.history(scope, order="oldest", after=None, until=None, limit=1_000)
                for scope in (*scopes, Scope(tenant, "lin", None, "a"))
            ],
        ]

    def _entry(self, role: Any, key: str | None, digest: bytes) -> Entry:
        name = self.new_id()
        return Entry(
            id=name,
            role=role,
            content=f"said {name}",
            at=self.now,
            metadata={"id": name},
            idempotency_key=key,
            digest=digest,
        )

    def _write(self, operation: Write[Any]) -> Any:
        return self.both(lambda side: side.storage.write(operation))


class WindowsMachine(RecordsMachine):
    """Windows that follow the appends, beside the record: what is held tells what the record tells."""

    rule_of_windows = WindowRule(size=3, ttl=TTL)

    def __init__(self, drive: Drive, other: Place, windows: Windows) -> None:
        super().__init__(drive, other)
        self.windows = windows

    @rule(thread=st.sampled_from(THREADS))
    def hold(self, thread: str) -> None:
        window = self._truth(thread)
        if window is not None:
            self.drive(self.windows.put(window, self.rule_of_windows))

    @rule(
        thread=st.sampled_from(THREADS),
        sent=st.lists(st.tuples(ROLES, KEYS, DIGESTS), min_size=1, max_size=2),
        later=st.sampled_from([0, 60, 101]),
    )
    def hold_a_window_read_before_an_append(self, thread: str, sent: list[Sent], later: int) -> None:
        window = self._truth(thread)
        if window is not None:
            self.append(thread, window.state.user, None, sent, False, later)
            self.drive(self.windows.put(window, self.rule_of_windows))

    @invariant()
    def what_is_held_is_what_the_record_tells(self) -> None:
        for thread in THREADS:
            held = self.drive(self.windows.get(self.tenant, thread))
            if held is not None:
                truth = self._truth(thread)
                assert truth is not None
                assert held.state == truth.state
                assert _without_positions(held.messages) == _without_positions(truth.messages)

    def _write(self, operation: Write[Any]) -> Any:
        answer = super()._write(operation)
        if isinstance(operation, Append) and isinstance(answer, Receipts):
            self.drive(self.windows.extend(operation, answer, self.rule_of_windows))
        elif isinstance(operation, Touch):
            self.drive(self.windows.touch(self.tenant, operation.thread, operation.at))
            if operation.session_from is not None:
                self.hold(operation.thread)
        return answer

    def _truth(self, thread: str) -> HeldWindow | None:
        records = self.other.storage.records
        state = self.drive(records.thread(self.tenant, thread))
        if state is None:
            return None
        size = self.rule_of_windows.size
        return HeldWindow(state, tuple(self.drive(records.tail(self.tenant, thread, state.session_from, size))))


def _without_positions(messages: tuple[Message, ...]) -> list[Message]:
    return [replace(message, position=0) for message in messages]
