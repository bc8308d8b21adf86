"""rememberd demo: two people, each in two sessions days apart, one in Chinese and one in English. Offline."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rememberd import wiring
from rememberd.client.wire import query_answer
from rememberd.memory import Memory
from rememberd.model import Context, Message
from rememberd.settings import load_settings

from .command import command
from .output import Output
from .pictures import heading, messages_table, recalled, said

if TYPE_CHECKING:
    from rich.console import RenderableType


_MONDAY = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
_DAYS_APART = timedelta(days=8)


@dataclass(frozen=True, slots=True)
class Story:
    """What was said in a first session, and what is asked in a second one."""

    user: str
    name: str
    first_session: tuple[tuple[str, str], ...]
    question: str


STORIES = (
    Story(
        user="lin",
        name="林小姐",
        first_session=(
            ("user", "你好，我皮肤敏感，容易泛红，想找一款轻薄的粉底。"),
            ("assistant", "好的，记住了：敏感肌、要轻薄。您的预算大概是多少？"),
            ("user", "三百元以内，最好不含酒精，上次用的含酒精的粉底让我过敏了。"),
            ("assistant", "推荐「云感」水粉底，不含酒精，268 元。"),
            ("user", "另外我下个月要去三亚旅行，到时候再看防晒。"),
        ),
        question="之前说的那款粉底，会不会让我过敏？",
    ),
    Story(
        user="ada",
        name="Ada",
        first_session=(
            ("user", "Our nightly backup to the Oslo server failed again, third time this week."),
            ("assistant", "Noted. What does the log say?"),
            ("user", "The disk of the Oslo server was full; I deleted the old snapshots by hand."),
            ("assistant", "A retention rule of 14 days would keep the disk from filling up."),
            ("user", "Good idea. By the way, I prefer answers without tables."),
        ),
        question="Why did the backup to Oslo fail, and what did we decide about the snapshots?",
    ),
)


class Clock:
    """A clock that is moved by hand."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=20)
        return self.now


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a story."""

    story: Story
    recorded: tuple[Message, ...]
    asked_at: datetime
    context: Context

    @property
    def document(self) -> dict[str, Any]:
        asked = {"user": self.story.user, "question": self.story.question, "asked_at": self.asked_at}
        return {**asked, "recorded": self.recorded, "recalled": query_answer(self.context)}

    @property
    def picture(self) -> list[RenderableType]:
        return [
            heading(f"{self.story.name}, first session: recorded"),
            messages_table(self.recorded),
            heading(f"{self.story.name}, {_DAYS_APART.days} days later, in a new thread, asks"),
            said(self.story.question, "bold cyan"),
            heading("Recalled, and why; then the context for the model"),
            *recalled(self.context),
        ]


@command
async def demo(output: Output) -> None:
    """See two conversations remembered: what is recorded, and what a session days later recalls and why."""
    clock = Clock(_MONDAY)
    with tempfile.TemporaryDirectory(prefix="rememberd-demo-") as folder:
        opened = await wiring.open_folder(Path(folder), load_settings(), clock=clock)
        async with Memory(opened.engine) as memory:
            for story in STORIES:
                await _first_session(memory, story)
            await memory.settle()
            clock.now += _DAYS_APART
            told = [await _second_session(memory, story, clock) for story in STORIES]
    degraded = told[0].context.degraded
    document = {"sessions": [one.document for one in told], "degraded": degraded}
    output.show(document, *(part for one in told for part in one.picture))
    for missing in degraded:
        output.note(f"degraded: {missing}")


async def _first_session(memory: Memory, story: Story) -> None:
    thread = memory.of(user=story.user, thread=f"{story.user}-1")
    for role, content in story.first_session:
        name = story.name if role == "user" else None
        await thread.ingest({"role": role, "name": name, "content": content})


async def _second_session(memory: Memory, story: Story, clock: Clock) -> Told:
    """A turn in a new thread: the question is recorded and what bears on it recalled."""
    earlier = await memory.of(user=story.user, thread=f"{story.user}-1").history(order="oldest")
    asked_at = clock.now
    thread = memory.of(user=story.user, thread=f"{story.user}-2")
    asked = {"role": "user", "name": story.name, "content": story.question}
    async with thread.turn(asked, k=3, budget=100, explain=True) as turn:
        context = turn.context
    return Told(story, earlier.items, asked_at, context)
