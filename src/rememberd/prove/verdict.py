"""What was acknowledged against what is there: the judgement that every fault ends with."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rememberd.model import Message

#: Under this name a message's metadata says the how-manieth of its speaker it is.
NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A message that rememberd said it has. Without ``seq`` it was spooled."""

    thread: str
    id: str
    seq: int | None
    content: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of acknowledged messages, by their ids."""

    lost: tuple[str, ...] = ()
    duplicated: tuple[str, ...] = ()
    disordered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the fault table: what was done how often, and what it cost.

    ``ready_alone`` is ``ready_again`` without the time that servers had no core of a busy machine to run on.
    """

    fault: str
    tries: int
    acknowledged: int
    lost: tuple[str, ...] = ()
    duplicated: tuple[str, ...] = ()
    disordered: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    ready_again: float | None = None
    ready_alone: float | None = None

    @property
    def passed(self) -> bool:
        return not (self.lost or self.duplicated or self.disordered or self.leaked or self.failures)


def judge(acknowledged: Iterable[Acknowledged], record: Mapping[str, Sequence[Message]]) -> Verdict:
    """``record`` holds whole threads, oldest message first. Every content was said once."""
    there = {message.id: message for messages in record.values() for message in messages}
    return Verdict(
        lost=tuple(one.id for one in acknowledged if not _is_there(one, there.get(one.id))),
        duplicated=tuple(_repeats(record)),
        disordered=tuple(found for messages in record.values() for found in _out_of_order(messages)),
    )


def _is_there(one: Acknowledged, message: Message | None) -> bool:
    return (
        message is not None
        and (message.thread, message.content) == (one.thread, one.content)
        and one.seq in (None, message.seq)
    )


def _repeats(record: Mapping[str, Sequence[Message]]) -> Iterable[str]:
    said: set[str] = set()
    for message in (message for messages in record.values() for message in messages):
        if message.content in said:
            yield message.id
        said.add(message.content)


def _out_of_order(messages: Sequence[Message]) -> Iterable[str]:
    """Sequence numbers count 1, 2, 3 …, and nobody's words overtake each other."""
    spoken: dict[str | None, int] = defaultdict(int)
    for expected, message in enumerate(messages, start=1):
        number = int(message.metadata[NUMBER])
        if message.seq != expected or number <= spoken[message.name]:
            yield message.id
        spoken[message.name] = number
