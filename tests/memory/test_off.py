"""Memory switched off: the agent's code runs unchanged, nothing is kept, and the answers say so."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

import pytest

import rememberd
from rememberd.client import RemoteEngine
from rememberd.errors import NotFound, SettingsError
from rememberd.off import OFF, OffEngine, OffOperations
from rememberd.operate.operations import LocalOperations
from rememberd.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path


async def _live(memory: rememberd.Memory) -> None:
    lin = memory.of(user="lin", thread="t")
    async with lin.turn("hello") as turn:
        assert turn.context.degraded == (OFF,)
        assert await turn.reply("hi") is None
    assert (await lin.ingest("hello")).receipts == ()
    context = await lin.query("hello")
    assert (context.raw, context.degraded) == ((), (OFF,))
    assert (await lin.history()).items == await lin.window() == ()
    assert (await lin.list()).items == ()
    item = await lin.add("likes tea", kind="preference")
    assert (item.revision, item.text) == (0, "likes tea")
    assert (await lin.revise(item.id, text="likes coffee")).revision == 0
    await lin.delete(item.id)
    assert await lin.versions(item.id) == ()
    with pytest.raises(NotFound):
        await lin.get(item.id)
    assert (await lin.stats()).messages == 0
    assert (await memory.settle()).degraded == (OFF,)
    [finding] = (await memory.operate.doctor()).findings
    assert finding.cure
    assert [step async for step in memory.operate.rebuild()] == []


def test_every_verb_answers_and_nothing_is_kept(tmp_path: Path) -> None:
    async def live() -> None:
        async with rememberd.connect(tmp_path / "memory", enable_memory=False) as memory:
            await _live(memory)

    asyncio.run(live())
    assert not (tmp_path / "memory").exists()


def test_the_setting_does_the_same(tmp_path: Path) -> None:
    settings = load_settings(environment={"REMEMBERD_MEMORY_ENABLED": "false"}, dotenv=None)
    with rememberd.blocking.connect(tmp_path / "memory", settings=settings) as memory:
        assert memory.of(user="lin").query("hello").degraded == (OFF,)
    assert not (tmp_path / "memory").exists()


def test_what_is_given_in_the_call_counts_more_than_the_setting(tmp_path: Path) -> None:
    settings = load_settings(environment={"REMEMBERD_MEMORY_ENABLED": "0"}, dotenv=None)
    with rememberd.blocking.connect(tmp_path / "memory", settings=settings, enable_memory=True) as memory:
        assert memory.of(user="lin").ingest("hello").receipts[0].status == "recorded"


def test_a_setting_that_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(SettingsError, match="must be true or false"):
        load_settings(environment={"REMEMBERD_MEMORY_ENABLED": "perhaps"}, dotenv=None)


@pytest.mark.parametrize(("off", "on"), [(OffEngine, RemoteEngine), (OffOperations, LocalOperations)])
def test_it_has_the_verbs_of_an_engine_that_is_on(off: type, on: type) -> None:
    verbs = {name for name, _ in inspect.getmembers(on, inspect.isfunction) if not name.startswith("_")} - {"ping"}
    for verb in verbs:
        taken = [list(inspect.signature(getattr(engine, verb)).parameters) for engine in (off, on)]
        assert taken[0] == taken[1], verb
