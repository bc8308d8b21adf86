"""A temporary store for benches: opened through the public API, and again with other stages of recall."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import rememberd
from rememberd import NewMessage, Scope
from rememberd.settings import load_settings

from .evidence import Said, moment

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence
    from types import TracebackType

    from rememberd import Context, Memory

T = TypeVar("T")

_AT_ONCE = 1000


class House:
    """One store for many people. What is in it is gone afterwards, so it need not survive a power cut."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._folder = tempfile.mkdtemp(prefix="rememberd-bench-")
        self.memory = self._open(None)

    def _open(self, stages: str | None) -> Memory:
        settings = load_settings(given={"recall.stages": stages, "database.synchronous": "OFF"})

        async def connect() -> Memory:
            return await rememberd.connect(self._folder, settings=settings)

        memory = self._runner.run(connect())
        missing = self._runner.run(memory.operate.doctor())
        assert all(finding.check != "vectors" or finding.state == "ok" for finding in missing.findings), missing
        return memory

    def reopen(self, stages: str | None = None) -> None:
        """With other stages of recall, or with the default ones."""
        self.run(self.memory.close())
        self.memory = self._open(stages)

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(call)

    def record(self, user: str | None, said: Sequence[Said]) -> None:
        """What was said. A time that several share is that of a session, which is a thread; what has a time of its own
        goes into one thread with the rest of its kind."""
        shared = Counter(each.time for each in said)
        for session, together in itertools.groupby(
            said, key=lambda each: each.time if shared[each.time] > 1 else "chat"
        ):
            thread = Scope(user=user, thread=f"{user or 'everybody'}-{session}")
            messages = [
                NewMessage(
                    role="user", content=each.text, name=each.speaker or None, at=moment(each.time),
                    metadata={"id": each.id},
                )
                for each in together
            ]  # fmt: skip
            for start in range(0, len(messages), _AT_ONCE):
                self.run(self.memory.ingest(thread, messages[start : start + _AT_ONCE]))

    def settle(self) -> None:
        assert self.run(self.memory.settle(3600)).settled

    def ask(self, user: str, text: str, **options: Any) -> Context:
        return self.run(self.memory.query(Scope(user=user), text, **options))

    def close(self) -> None:
        self.run(self.memory.close())
        self._runner.close()
        shutil.rmtree(self._folder)

    def __enter__(self) -> House:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
