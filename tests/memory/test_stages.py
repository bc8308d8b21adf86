"""The stages of recall are a setting: each can be left out, and others can be put in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rememberd import wiring
from rememberd.errors import SettingsError
from rememberd.flow.recall.stages import STAGES
from rememberd.settings import TABLE
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rememberd import Hit, Query

SAID = [
    {"role": "user", "name": "Lin", "content": "where did you leave the violin?"},
    {"role": "user", "name": "Mei", "content": "behind the sofa"},
    {"role": "user", "name": "Mei", "content": "the violin was new"},
]
EVERY = ",".join(STAGES)


def latest_first(query: Query, hits: list[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: hit.id, reverse=True)


@pytest.fixture
def recalled(tmp_path: Path) -> Iterator[Callable[[str], dict[str, Hit]]]:
    """What a question recalls with some stages, by its text."""
    stores: list[Store] = []

    def recall(stages: str) -> dict[str, Hit]:
        settings = plain_settings(models__embedder="test", recall__stages=stages)
        stores.append(Store("folder", tmp_path / f"memory-{len(stores)}", settings))
        store = stores[-1]
        store.run(store.memory.of(user="lin", thread="t").ingest(SAID))
        store.run(store.memory.settle())
        return {
            hit.text: hit for hit in store.run(store.memory.of(user="lin").query("Where is Mei's violin today?")).raw
        }

    yield recall
    for store in stores:
        store.close()


def test_the_default_is_every_stage() -> None:
    assert TABLE["recall.stages"].default == EVERY


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage not in ("fold", "floor")])
def test_a_stage_that_is_left_out_gives_no_part(recalled: Callable[[str], dict[str, Hit]], stage: str) -> None:
    with_it, without_it = recalled(EVERY), recalled(EVERY.replace(stage, ""))
    assert any(hit.parts[stage] for hit in with_it.values())
    assert not any(hit.parts[stage] for hit in without_it.values())
    assert all(abs(sum(hit.parts.values()) - hit.score) < 1e-6 for hit in without_it.values())


def test_without_the_fold_what_is_said_twice_is_told_twice(tmp_path: Path) -> None:
    for stages, told in ((EVERY, 1), (EVERY.replace("fold", ""), 2)):
        store = Store("folder", tmp_path / f"memory-{told}", plain_settings(recall__stages=stages))
        store.run(store.memory.of(user="lin", thread="t").ingest(["The violin is red."] * 2))
        assert len(store.run(store.memory.of(user="lin").query("what is the violin like?")).raw) == told
        store.close()


def test_without_the_floor_nothing_is_silenced(tmp_path: Path) -> None:
    for stages, silent in ((EVERY, True), ("lexical", False)):
        store = Store("folder", tmp_path / stages.replace(",", "-"), plain_settings(recall__stages=stages))
        store.run(store.memory.of(user="lin", thread="t").ingest(SAID))
        asked = store.memory.of(user="lin").query("violin orchestra concert tickets tonight", floor=0.9)
        assert (store.run(asked).raw == ()) is silent
        store.close()


def test_a_stage_of_another_module_is_called_with_what_was_found(recalled: Callable[[str], dict[str, Hit]]) -> None:
    found = recalled(f"{EVERY}, {__name__}:latest_first")
    assert list(found) == [message["content"] for message in reversed(SAID)]


@pytest.mark.parametrize(
    ("stages", "told"),
    [("lexicl", "lexicl is not a stage"), ("no.such.module:it", "cannot be loaded"), (f"{__name__}:gone", "cannot be")],
)
def test_a_stage_that_does_not_exist_is_refused(stages: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        asyncio.run(wiring.open_reference(plain_settings(recall__stages=stages)))
