"""The step from texts to vectors: in lanes that do not hold each other up, and nothing wrong is ever written."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rememberd.language.sentences import parts
from rememberd.language.tokens import estimate
from rememberd.providers.embed import TestEmbedder
from rememberd.providers.repeated import Repeated
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class Counting(TestEmbedder):
    """Notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.asked.append(list(texts))
        return await super().embed(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store("folder", tmp_path / "memory", plain_settings(models__embedder="test"))
    yield made
    made.close()


def test_a_text_that_comes_again_is_embedded_once() -> None:
    async def story() -> None:
        counting = Counting()
        embedder = Repeated(counting, remembered=3)
        first = await embedder.embed(["hello", "bye", "hello"])
        assert first[0] == first[2] != first[1]
        assert await embedder.embed(["bye", "new"]) == [first[1], (await counting.embed(["new"]))[0]]
        assert counting.asked == [["hello", "bye"], ["new"], ["new"]]
        await embedder.embed(["a", "b", "c"])
        await embedder.embed(["hello"])
        assert counting.asked[-1] == ["hello"]
        assert await embedder.embed([]) == []

    asyncio.run(story())


def test_a_vector_of_the_wrong_dimension_is_refused_before_anything_is_written(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def short(self: TestEmbedder, texts: Sequence[str]) -> list[bytes]:
        return [b"\0" * 4 * 31 for _ in texts]

    whole = TestEmbedder.embed
    monkeypatch.setattr(TestEmbedder, "embed", short)
    [receipt] = store.run(store.memory.of(user="lin", thread="t").ingest("hello")).receipts
    assert not store.run(store.memory.settle(0.3)).settled
    assert store.run(store.parts.storage.vectors.get("default", [receipt.id])) == []
    [lane] = store.run(store.memory.operate.lanes())
    assert lane.problem == "the lane test has dimension 32, but a vector of 31"
    monkeypatch.setattr(TestEmbedder, "embed", whole)
    assert store.run(store.memory.settle(10)).settled
    [lane] = store.run(store.memory.operate.lanes())
    assert (lane.problem, lane.owed) == ("", 0)


def test_thousands_at_once_are_found_by_words_at_once_and_stats_count_down_what_is_owed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed, open_gate = TestEmbedder.embed, asyncio.Event()

    async def gated(self: TestEmbedder, texts: Sequence[str]) -> list[bytes]:
        if len(texts) > 1:
            await open_gate.wait()
        return await embed(self, texts)

    monkeypatch.setattr(TestEmbedder, "embed", gated)
    said = [f"Parcel number {number} waits." for number in range(5_000)]
    for first in range(0, len(said), 1_000):
        store.run(store.memory.of(user="lin", thread=f"t{first}").ingest(said[first : first + 1_000]))
    context = store.run(store.memory.of(user="lin").query("parcel 4711", floor=0.0))
    assert context.raw[0].text == said[4711]
    assert context.degraded[0].startswith("vectors: ")
    assert store.run(store.memory.operate.stats()).index.unembedded == 5_000
    open_gate.set()
    left = []
    while (owed := store.run(store.memory.operate.stats()).index.unembedded) > 0:
        left.append(owed)
        store.parts.nudge(hurry=True)
        store.run(asyncio.sleep(0.05))
    assert left == sorted(left, reverse=True)
    assert len(set(left)) > 2
    assert store.run(store.memory.settle(60)).settled
    [lane] = store.run(store.memory.operate.stats()).lanes
    assert (lane.state, lane.owed) == ("serving", 0)


def test_a_text_longer_than_the_window_has_a_vector_for_each_part(store: Store) -> None:
    sentences = [f"On day {number} the parcel went from gate {number} to gate {number + 1}." for number in range(200)]
    short, long = store.run(store.memory.of(user="lin", thread="t").ingest(["hello", " ".join(sentences)])).receipts
    assert store.run(store.memory.settle(30)).settled
    vectors = store.run(store.parts.storage.vectors.get("default", [short.id, long.id]))
    lengths = {vector.id: len(vector.data) for vector in vectors}
    pieces = parts(" ".join(sentences), TestEmbedder.window, estimate)
    assert lengths == {short.id: 128, long.id: 128 * len(pieces)}
    assert len(pieces) > 5
    for part in (pieces[0], pieces[-1]):
        found = store.run(store.memory.of(user="lin").query(part, floor=0.0)).raw
        assert {hit.id: hit.parts["vector"] for hit in found}[long.id] == pytest.approx(
            0.5, abs=0.01
        )  # the index keeps 8 bits
