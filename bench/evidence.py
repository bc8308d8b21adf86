"""Conversations with questions whose evidence is known: LoCoMo (English) and MemDaily (Chinese), as they are published.

LoCoMo: every turn is a message, every question's evidence the turns that it names. MemDaily: every trajectory
is a person, who also sees everyday chat, that of MemoryBank.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_FORMATS = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y年%m月%d日 %H:%M")
_BESIDES = re.compile(r"周. |(?<=\d{4}-\d\d-\d\d) \D.*")


@dataclass(frozen=True, slots=True)
class Said:
    """``time`` is as the data has it: of the session, or of the message."""

    id: str
    text: str
    speaker: str
    time: str


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    gold: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True)
class Case:
    """What one person's memory holds, and what is asked of it."""

    name: str
    said: tuple[Said, ...]
    questions: tuple[Question, ...]

    @property
    def speakers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(said.speaker for said in self.said))


def locomo(data: Path) -> list[Case]:
    return [_conversation(sample) for sample in _read(data / "locomo.json")]


def _conversation(sample: dict[str, Any]) -> Case:
    conversation = sample["conversation"]
    sessions = sorted(
        (int(name.removeprefix("session_")), name) for name in conversation if re.fullmatch(r"session_\d+", name)
    )
    said = tuple(
        Said(turn["dia_id"], _with_picture(turn), turn["speaker"], conversation[f"{name}_date_time"])
        for _, name in sessions
        for turn in conversation[name]
    )
    known = {each.id for each in said}
    questions = []
    for asked in sample["qa"]:
        gold = _evidence(asked.get("evidence") or []) & known
        if gold:
            questions.append(Question(asked["question"], gold, _CATEGORIES[asked["category"]]))
    return Case(sample["sample_id"], said, tuple(questions))


def _with_picture(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares a picture: {caption}]" if caption else str(turn["text"])


def _evidence(written: list[str]) -> frozenset[str]:
    """The turns that evidence names; a few are written in other ways than the rest, such as ``D:11:26``."""
    return frozenset(
        f"D{int(session)}:{int(turn)}" for each in written for session, turn in re.findall(r"D:?(\d+):(\d+)", each)
    )


def memdaily(data: Path, every: int) -> list[Case]:
    """Every so-manieth trajectory of each file, without the everyday chat."""
    cases = []
    for file in sorted((data / "memdaily-zh").glob("0*.json")):
        category = file.stem.split("_", 1)[1].rsplit("_", 1)[0]
        for trajectory in _read(file)[::every]:
            said = tuple(
                Said(f"m{each['mid']}", each["message"], "", each["time"]) for each in trajectory["message_list"]
            )
            known = {each.id for each in said}
            questions = tuple(
                Question(asked["question"], gold, category)
                for asked in trajectory["question_list"]
                if (gold := frozenset(f"m{step}" for step in asked["target_step_id"]) & known)
            )
            cases.append(Case(f"{file.stem}-{trajectory['tid']}", said, questions))
    return cases


def everyday_chat(data: Path) -> list[Said]:
    """What people say to an assistant, a session per person and day."""
    chat = []
    for name, person in _read(data / "memorybank" / "memory_bank_cn.json").items():
        for day, turns in person["history"].items():
            for number, turn in enumerate(turns):
                chat.append(Said(f"chat-{name}-{day}-{number}-asked", turn["query"], "", f"{day} {name}"))
                chat.append(Said(f"chat-{name}-{day}-{number}-answered", turn["response"], "", f"{day} {name}"))
    return chat


def moment(text: str) -> datetime:
    """When something was said, as far as the time is understood; the day of the week and names are not needed."""
    plain = _BESIDES.sub("", re.sub(r"\s+", " ", text.strip()))
    for form in _FORMATS:
        try:
            return datetime.strptime(plain, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return datetime(2024, 1, 1, tzinfo=UTC)


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
