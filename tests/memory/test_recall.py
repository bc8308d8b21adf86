"""Recall: parts that add up, an order that stays, neighbours, speakers, and silence."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from pathlib import Path


THINGS = ("umbrella", "ladder", "teapot", "violin", "雨伞", "梯子", "茶壶", "小提琴")
PLACES = ("kitchen", "garden", "office", "厨房", "花园", "办公室")


def _said(chance: random.Random) -> str:
    return f"the {chance.choice(THINGS)} is in the {chance.choice(PLACES)} {chance.choice(('now', '了', 'again'))}"


@pytest.mark.parametrize("questions", [25, pytest.param(500, marks=pytest.mark.slow)])
def test_the_parts_add_up_to_the_score_and_the_same_question_gives_the_same_ranking(
    tmp_path: Path, questions: int
) -> None:
    store = Store("folder", tmp_path, plain_settings(models__embedder="test"))
    chance = random.Random(7)
    lin = store.memory.of(user="lin")
    for number in range(20):
        messages = [
            {"role": "user", "name": chance.choice(("Lin", "Mei")), "content": _said(chance)} for _ in range(15)
        ]
        store.run(store.memory.of(user="lin", thread=f"t-{number}").ingest(messages))
    store.run(store.memory.settle(30))
    for _ in range(questions):
        question = f"{chance.choice(('Lin', 'Mei', '谁'))} {chance.choice(THINGS)} {chance.choice(PLACES)}?"
        context = store.run(lin.query(question, k=20, explain=True))
        again = store.run(lin.query(question, k=20, explain=True))
        assert [hit.id for hit in context.raw] == [hit.id for hit in again.raw]
        assert context == again
        assert context.explanation is not None
        assert len(context.explanation.verdicts) >= len(context.raw)
        for verdict in context.explanation.verdicts:
            assert abs(sum(verdict.hit.parts.values()) - verdict.hit.score) < 1e-6
            assert verdict.hit.why
    store.close()


def test_what_was_said_right_after_a_strong_hit_is_recalled_with_it(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest(["good morning", "where did you leave the violin?", "behind the sofa", "thanks", "see you"]))
    hits = store.run(store.memory.of(user="lin").query("where is the violin?")).raw
    assert [hit.text for hit in hits[:2]] == ["where did you leave the violin?", "behind the sofa"]
    assert "next to what matches" in hits[1].why


def test_the_speaker_whom_the_question_names_comes_first(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    for name in ("Lin", "Mei"):
        for i in range(3):
            line = {"role": "user", "name": name, "content": f"my favourite tea number {i} is green"}
            store.run(store.memory.of(user="lin", thread=f"{name}-{i}").ingest(line))
    hits = store.run(lin.query("what is Mei's favourite tea?", k=3)).raw
    assert {hit.name for hit in hits} == {"Mei"}
    assert all("was said by Mei" in hit.why for hit in hits)


def test_a_question_about_things_never_said_is_answered_with_silence(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest([f"note {i}: the parcel of the neighbours arrived on day {i}" for i in range(300)]))
    asked = "did the submarine captain arrive in Antarctica with his orchestra?"
    silent = store.run(store.memory.of(user="lin").query(asked, explain=True))
    assert (silent.raw, silent.text) == ((), "")
    assert silent.explanation is not None
    assert silent.explanation.relevance < silent.explanation.floor
    assert {verdict.fate for verdict in silent.explanation.verdicts} == {"floor"}
    assert store.run(store.memory.of(user="lin").query(asked, floor=0.0)).raw != ()
    answered = store.run(store.memory.of(user="lin").query("when did the parcel arrive?"))
    assert answered.raw != ()
    assert answered.explanation is None, "nobody asked for one"


@pytest.mark.parametrize(
    ("said", "asked", "searched"),
    [("我的電腦壞了", "电脑怎么了？", "电脑坏了"), ("我的电脑坏了", "電腦怎麼了？", "電腦壞了")],
)
@pytest.mark.parametrize("is_settled", [False, True])
def test_simplified_finds_traditional_and_back(
    store: Store, said: str, asked: str, searched: str, is_settled: bool
) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest([said, "明天再说"]))
    if is_settled:
        store.run(store.memory.settle(10))
    (hit, *_) = store.run(store.memory.of(user="lin").query(asked)).raw
    assert hit.text == said
    assert [message.content for message in store.run(lin.history(search=searched)).items] == [said]


def test_what_one_source_says_twice_is_told_once_and_why_says_so(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    said = [
        "The red umbrella is in the kitchen.",
        "the red umbrella is in the kitchen",
        "The red umbrella is in the hall",
    ]
    store.run(lin.ingest(said))
    store.run(lin.ingest({"role": "assistant", "content": "The red umbrella is in the kitchen."}))
    store.run(store.memory.of(user="lin", thread="later").ingest(said[0]))
    hits = store.run(store.memory.of(user="lin").query("where is the red umbrella?")).raw
    assert len(hits) == 4
    folded = [hit for hit in hits if "stands for 1 more that say the same" in hit.why]
    assert [(hit.thread, hit.role) for hit in folded] == [("t", "user")]
    assert {hit.text for hit in hits if hit.thread == "t" and hit.role == "user"} == {folded[0].text, said[2]}


def test_folding_leaves_as_many_hits_as_were_asked_for(store: Store) -> None:
    lin = store.memory.of(user="lin", thread="t")
    store.run(lin.ingest(["我的雨伞在厨房里"] * 30 + [f"雨伞在第{i}个房间" for i in range(1, 9)]))
    hits = store.run(store.memory.of(user="lin").query("雨伞在哪里？", k=5)).raw
    assert len({hit.text for hit in hits}) == len(hits) == 5
