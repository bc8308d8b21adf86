"""Two places side by side: the reference and another, asked the same, expected to answer the same."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from rememberd.backends.reference import ReferencePlace
from rememberd.errors import RememberdError
from rememberd.model import Change, MemoryItem, Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rememberd.conformance import Place
    from rememberd.ports.storage import Storage

    from .conftest import Drive

T = TypeVar("T")

SETTINGS = settings(
    max_examples=20,
    stateful_step_count=14,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)

#: A small vocabulary, so that operations meet.
USERS = (None, "lin", "mei")
AGENTS = (None, "seller")
KEYS = st.sampled_from([None, None, "k1", "k2", "K1"])
DIGESTS = st.sampled_from([b"x", b"y"])
TTL = timedelta(seconds=100)

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_RUN = uuid.uuid4().hex
_NUMBERS = itertools.count()


def fresh_name(kind: str) -> str:
    """A name that no other example of this run uses."""
    return f"{kind}-{_RUN}-{next(_NUMBERS):06}"


class Side:
    """A storage at one of the two places.

    Engines may leave gaps between positions, so positions are compared by their rank among the tenant's changes.
    """

    def __init__(self, place: Place, storage: Storage, tenant: str, start: int) -> None:
        self._place = place
        self._tenant = tenant
        self._start = start
        self._positions: list[int] = []
        self.storage = storage

    @classmethod
    async def open(cls, place: Place, tenant: str) -> Side:
        storage = await place.open_storage()
        return cls(place, storage, tenant, await storage.feed.head())

    async def reopen(self) -> None:
        await self.storage.close()
        self.storage = await self._place.open_storage()

    async def changes(self) -> list[Change]:
        read = await self.storage.feed.read(self._start, 100_000)
        return [change for change in read if change.tenant == self._tenant]

    async def note_positions(self) -> None:
        self._positions = [change.position for change in await self.changes()]

    def position(self, rank: int | None) -> int | None:
        """The position of a rank; one beyond the last is beyond every position."""
        if rank is None or rank == 0:
            return rank
        return self._positions[rank - 1] if rank <= len(self._positions) else self._start + 1_000_000

    def ranked(self, answer: Any) -> Any:
        if isinstance(answer, list):
            return [self.ranked(each) for each in answer]
        if isinstance(answer, Message | MemoryItem | Change):
            return replace(answer, position=self._positions.index(answer.position) + 1)
        return answer


class Comparison(RuleBasedStateMachine):
    """The base of the machines: time and ids are counted, the other place is reopened at random."""

    def __init__(self, drive: Drive, other: Place) -> None:
        super().__init__()
        self.drive = drive
        self.tenant = fresh_name("tenant")
        self.reference = drive(Side.open(ReferencePlace(), self.tenant))
        self.other = drive(Side.open(other, self.tenant))
        self.seconds = 0
        self._ids = itertools.count(1)

    @property
    def now(self) -> datetime:
        return _EPOCH + timedelta(seconds=self.seconds)

    def new_id(self) -> str:
        return f"{self.tenant}-{next(self._ids):06}"

    def both(self, ask: Callable[[Side], Awaitable[T]]) -> Any:
        """Ask both, expect the same answer (or the same error), and give it back."""
        answers = [self.drive(_asked(ask, side)) for side in (self.reference, self.other)]
        assert answers[1] == answers[0]
        return answers[0]

    def teardown(self) -> None:
        self.drive(self.other.storage.close())


async def _asked(ask: Callable[[Side], Awaitable[T]], side: Side) -> Any:
    try:
        answer = await ask(side)
    except RememberdError as error:
        return type(error)
    await side.note_positions()
    return side.ranked(answer)
