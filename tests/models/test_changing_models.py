"""Another model, while everything goes on: the old one serves until the new one is whole, and never a mix."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bench.reembed import change_under_fire
from rememberd.errors import Conflict, ModelUnavailable, NotFound
from rememberd.ports.vectors import Space, wanted
from rememberd.providers.embed import TestEmbedder
from tests.cli.processes import run
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

SAID = [f"Parcel {number} waits at gate {number * 7}." for number in range(30)]


def with_model(name: str, **more: str) -> dict[str, str]:
    return {"models__embedder": "test", "models__name": name, **more}


@pytest.fixture(params=("folder", pytest.param("postgresql", marks=pytest.mark.integration)))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = Store(request.param, tmp_path / "memory", plain_settings(**with_model("test-1")))
    made.run(made.memory.of(user="lin", thread="t").ingest(SAID))
    assert made.run(made.memory.settle(30)).settled
    yield made
    made.close()


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets a model fail, or all of them work again."""
    embed = TestEmbedder.embed

    def stick(*names: str) -> None:
        async def maybe(self: TestEmbedder, texts: Sequence[str]) -> list[bytes]:
            if self.model in names and texts:
                raise ModelUnavailable(f"{self.model} is stuck")
            return await embed(self, texts)

        monkeypatch.setattr(TestEmbedder, "embed", maybe)

    return stick


def states(store: Store) -> dict[str, str]:
    return {lane.model: lane.state for lane in store.run(store.memory.operate.lanes())}


def nearness(store: Store, text: str) -> float:
    """The vector part of the message that is word for word the question: 0.5 if it was found in its own space.

    The index keeps 8 bits of a number, so nearly that.
    """
    context = store.run(store.memory.of(user="lin").query(text, floor=0.0))
    return round({hit.text: hit.parts["vector"] for hit in context.raw}[text], 2)


def wait_until(store: Store, reached: Callable[[], bool]) -> None:
    for _ in range(500):
        if reached():
            return
        store.parts.nudge(hurry=True)
        store.run(asyncio.sleep(0.01))
    raise AssertionError(states(store))


def test_the_first_model_serves_at_once(store: Store) -> None:
    assert states(store) == {"test-1": "serving"}
    assert nearness(store, SAID[3]) == pytest.approx(0.5)


def test_the_old_model_serves_until_the_new_one_is_whole(store: Store, stuck: Callable[..., None]) -> None:
    stuck("test-2")
    store.reopen(plain_settings(**with_model("test-2")))
    assert states(store) == {"test-1": "going", "test-2": "coming"}
    store.run(store.memory.of(user="lin", thread="t").ingest("The ferry leaves at nine."))
    assert store.run(store.memory.settle(30)).settled
    assert nearness(store, SAID[3]) == nearness(store, "The ferry leaves at nine.") == pytest.approx(0.5)
    [coming] = [lane for lane in store.run(store.memory.operate.stats()).lanes if lane.state == "coming"]
    assert (coming.owed, coming.problem) == (31, "test-2 is stuck")
    stuck()
    wait_until(store, lambda: states(store)["test-2"] == "serving")
    assert states(store) == {"test-1": "kept", "test-2": "serving"}
    assert nearness(store, SAID[3]) == nearness(store, "The ferry leaves at nine.") == pytest.approx(0.5)


def test_going_back_takes_only_what_came_since(
    store: Store, stuck: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.reopen(plain_settings(**with_model("test-2")))
    wait_until(store, lambda: states(store)["test-2"] == "serving")
    store.run(store.memory.of(user="lin", thread="t").ingest("The ferry leaves at nine."))
    assert store.run(store.memory.settle(30)).settled
    embedded: list[str] = []
    embed = TestEmbedder.embed

    async def watched(self: TestEmbedder, texts: Sequence[str]) -> list[bytes]:
        embedded.extend(texts if self.model == "test-1" else ())
        return await embed(self, texts)

    monkeypatch.setattr(TestEmbedder, "embed", watched)
    store.reopen(plain_settings(**with_model("test-1")))
    wait_until(store, lambda: states(store)["test-1"] == "serving")
    assert embedded == ["The ferry leaves at nine."]
    assert nearness(store, "The ferry leaves at nine.") == nearness(store, SAID[7]) == pytest.approx(0.5)


def test_a_change_can_be_called_off(store: Store, stuck: Callable[..., None]) -> None:
    stuck("test-2")
    store.reopen(plain_settings(**with_model("test-2")))
    store.reopen(plain_settings(**with_model("test-1")))
    assert states(store) == {"test-1": "serving", "test-2": "kept"}
    assert store.run(store.memory.settle(30)).settled
    assert nearness(store, SAID[3]) == pytest.approx(0.5)


def test_without_the_old_model_words_serve_until_the_new_one_is_whole(
    store: Store, stuck: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck("test-2")
    monkeypatch.setattr("rememberd.wiring.embedding.revive", lambda settings, space: None)
    store.reopen(plain_settings(**with_model("test-2")))
    context = store.run(store.memory.of(user="lin").query(SAID[3], floor=0.0))
    assert context.raw[0].text == SAID[3]
    assert context.raw[0].parts["vector"] == 0
    assert context.degraded == (
        "vectors: lane test: the model test-1, which its vectors are of, is not at hand, so it goes by words alone"
        " until those of test-2 are whole",
    )
    assert not store.run(store.memory.settle(0.1)).settled
    stuck()
    assert store.run(store.memory.settle(30)).settled
    assert nearness(store, SAID[3]) == pytest.approx(0.5)


def test_without_models_the_lanes_are_left_as_they_are(store: Store) -> None:
    store.reopen(plain_settings())
    assert states(store) == {"test-1": "serving"}
    assert store.run(store.memory.settle(10)).settled
    store.reopen(plain_settings(**with_model("test-1")))
    assert store.run(store.memory.settle(30)).settled
    assert nearness(store, SAID[3]) == pytest.approx(0.5)


def test_what_no_lane_takes_is_not_owed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TestEmbedder, "takes", lambda self, text: False)
    store.run(store.memory.of(user="lin", thread="t").ingest(["包裹在三号门。"]))
    assert store.run(store.memory.settle(30)).settled
    assert [lane.owed for lane in store.run(store.memory.operate.lanes())] == [0]


def test_old_vectors_are_dropped_on_purpose_only(store: Store) -> None:
    store.reopen(plain_settings(**with_model("test-2")))
    wait_until(store, lambda: states(store)["test-2"] == "serving")
    operate = store.memory.operate
    with pytest.raises(Conflict, match="are serving, so they cannot be dropped"):
        store.run(operate.drop_lane("test", "test-2"))
    with pytest.raises(NotFound):
        store.run(operate.drop_lane("test", "test-3"))
    assert store.run(operate.drop_lane("test", "test-1")) == len(SAID)
    assert states(store) == {"test-2": "serving"}
    assert store.run(store.memory.settle(30)).settled
    assert nearness(store, SAID[3]) == pytest.approx(0.5)
    ids = [message.id for message in store.run(store.memory.of(user="lin", thread="t").history(limit=100)).items]
    assert {vector.model for vector in store.run(store.parts.storage.vectors.get("default", ids))} == {"test-2"}


def test_a_revised_memory_keeps_no_vector_of_its_old_text(store: Store) -> None:
    lin = store.memory.of(user="lin")
    item = store.run(lin.add("Lin likes tea."))
    assert store.run(store.memory.settle(30)).settled
    assert nearness(store, "Lin likes tea.") == pytest.approx(0.5)
    store.run(lin.revise(item.id, text="Lin likes coffee."))
    assert store.run(store.memory.settle(30)).settled
    assert nearness(store, "Lin likes coffee.") == pytest.approx(0.5)
    store.run(lin.delete(item.id))
    assert store.run(store.memory.settle(30)).settled
    assert store.run(store.parts.storage.vectors.get("default", [item.id])) == []


def test_what_is_wanted_serves_at_once_only_where_nothing_else_does() -> None:
    one, two = Space("a", "1"), Space("b", "1")
    assert wanted({}, (one, two)) == {one: "serving", two: "serving"}
    assert wanted({one: "kept"}, (two,)) == {one: "kept", two: "serving"}
    assert wanted({one: "serving"}, (two,)) == {one: "going", two: "coming"}
    assert wanted({one: "going", two: "coming"}, (one, two)) == {one: "serving", two: "coming"}
    assert wanted({one: "serving", two: "serving"}, (two,)) == {one: "kept", two: "serving"}


def test_a_change_survives_being_killed_and_no_query_sees_a_mix(tmp_path: Path) -> None:
    seen = change_under_fire(tmp_path / "memory", messages=300, kills=3, pace=0.003)
    assert seen.kills == 3
    assert seen.faults == ()
    assert seen.queries > 20
    assert seen.embedded == seen.messages > 300
    assert seen.states == {"test/test-1": "kept", "test/test-2": "serving"}


def test_the_commands_show_the_change_and_drop_what_is_kept(store: Store) -> None:
    store.reopen(plain_settings(**with_model("test-2")))
    wait_until(store, lambda: states(store)["test-2"] == "serving")
    store.run(store.memory.close())
    here = store.folder.parent
    where = ("--url", store.url) if store.kind == "postgresql" else ("--data", store.url)
    listed = run(here, "models", "status", *where, "--json").document["items"]
    assert [(lane["model"], lane["state"]) for lane in listed] == [("test-1", "kept"), ("test-2", "serving")]
    refused = run(here, "models", "drop", "test", "test-2", *where, "--json")
    assert (refused.code, refused.problem["code"]) == (4, "conflict")
    assert "30 vectors of test/test-1 were dropped" in run(here, "models", "drop", "test", "test-1", *where).out
    assert "serving, model test-2" in run(here, "stats", *where).out
    store.reopen()
