"""What the bridge costs within a language: stores of both, asked in one. ``python -m bench.bridge DATA``.

DATA holds locomo.json, memdaily-zh/ and memorybank/. A conversation of LoCoMo has Chinese filler beside it, a
trajectory of MemDaily has Chinese filler and English turns; recall@10 of their own questions, floor off, without and
with the bridge.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from rememberd import wiring
from rememberd.memory import Memory
from rememberd.model import NewMessage
from rememberd.settings import load_settings

from .evidence import moment

Line = tuple[str, str, str, str]  # id, text, speaker, time
Case = tuple[list[Line], list[tuple[str, frozenset[str]]]]

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def english(data: Path, conversations: int, foreign: list[Line]) -> list[Case]:
    cases: list[Case] = []
    for sample in json.loads((data / "locomo.json").read_text(encoding="utf-8"))[:conversations]:
        said = sample["conversation"]
        keys = sorted((key for key in said if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
        lines = [
            (turn["dia_id"], turn["text"], turn["speaker"], said[f"{key}_date_time"])
            for key in keys
            for turn in said[key]
        ]
        known = {line[0] for line in lines}
        questions = []
        for asked in sample["qa"]:
            found = _EVIDENCE.findall(" ".join(asked.get("evidence") or []))
            gold = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in found) & known
            if gold:
                questions.append((asked["question"], gold))
        cases.append((lines + foreign, questions))
    return cases


def chinese(data: Path, trajectories: int, beside: list[Line]) -> list[Case]:
    cases: list[Case] = []
    files = sorted((data / "memdaily-zh").glob("0*.json"))
    for file in files:
        for trajectory in json.loads(file.read_text(encoding="utf-8"))[: max(1, trajectories // len(files))]:
            lines = [(f"m{each['mid']}", each["message"], "", each["time"]) for each in trajectory["message_list"]]
            asked = [
                (each["question"], frozenset(f"m{step}" for step in each["target_step_id"]))
                for each in trajectory["question_list"]
            ]
            cases.append((lines + beside, asked))
    return cases


def filler(data: Path, number: int) -> list[Line]:
    bank: dict[str, Any] = json.loads((data / "memorybank" / "memory_bank_cn.json").read_text(encoding="utf-8"))
    lines = (
        (f"noise-{name}-{day}-{i}", turn["query"], "", day)
        for name, person in bank.items()
        for day, turns in person["history"].items()
        for i, turn in enumerate(turns)
    )
    return list(itertools.islice(lines, number))


async def recall(cases: list[Case], bridge: str) -> float:
    settings = load_settings(given={"models.bridge": bridge})
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory((await wiring.open_folder(Path(folder) / "memory", settings)).engine)
        for number, (lines, _) in enumerate(cases):
            for time, said in itertools.groupby(lines, key=lambda line: line[3]):
                thread = memory.of(user=str(number), thread=f"{number}-{time}")
                await thread.ingest(
                    [
                        NewMessage(role="user", content=text, name=name or None, at=moment(time), metadata={"id": id_})
                        for id_, text, name, _ in said
                    ]
                )
        assert (await memory.settle(3600)).settled
        shares = []
        for number, (_, questions) in enumerate(cases):
            for question, gold in questions:
                found = (await memory.of(user=str(number)).query(question, k=10, floor=0.0)).raw
                shares.append(len(gold & {hit.metadata["id"] for hit in found}) / len(gold))
        await memory.close()
    return 100 * sum(shares) / len(shares)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("data", type=Path)
    options.add_argument("--conversations", type=int, default=10)
    options.add_argument("--trajectories", type=int, default=110)
    asked = options.parse_args()
    noise = filler(asked.data, 300)
    turns = english(asked.data, 1, [])[0][0][:300]
    sets = {
        "English, beside Chinese": english(asked.data, asked.conversations, noise),
        "Chinese, beside English": chinese(asked.data, asked.trajectories, noise + turns),
    }
    print("| questions | number | recall@10 without | with the bridge |\n| --- | --- | --- | --- |")
    for name, cases in sets.items():
        without, bridged = (asyncio.run(recall(cases, bridge)) for bridge in ("none", "use"))
        print(f"| {name} | {sum(len(asked) for _, asked in cases)} | {without:.1f} | {bridged:.1f} |", flush=True)


if __name__ == "__main__":
    main()
