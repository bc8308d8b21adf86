"""The lanes: the same text gives the same vector, and near in meaning is near in direction."""

from __future__ import annotations

import asyncio
import gc
import shutil
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rememberd.errors import ModelUnavailable
from rememberd.providers import onnx
from rememberd.providers.catalogue import EN, ZH
from rememberd.providers.onnx import local_lanes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from rememberd.providers.catalogue import File
    from rememberd.providers.onnx import OnnxLane

    Lanes = dict[str, OnnxLane]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.fixture(scope="module")
def lanes(fetched: Path, runner: asyncio.Runner) -> Iterator[Lanes]:
    made = {lane.lane: lane for lane in local_lanes(fetched)}
    yield made
    for lane in made.values():
        runner.run(lane.close())


@pytest.fixture
def copied(fetched: Path, tmp_path: Path) -> Path:
    """A models folder of the test's own, to be damaged."""
    for file in (ZH.onnx, ZH.tokenizer, EN.onnx, EN.tokenizer):
        shutil.copy(fetched / file.name, tmp_path / file.name)
    return tmp_path


def test_how_a_sentence_ends_does_not_tell_english_questions_from_answers(lanes: Lanes, runner: asyncio.Runner) -> None:
    ended, asked, bare, mark = runner.run(lanes["en"].embed(["I like tea.", "I like tea?", "I like tea", "?"]))
    assert ended == asked == bare != mark
    assert np.linalg.norm(np.frombuffer(mark, "<f4")) == pytest.approx(1)


@asynccontextmanager
async def lane_of(folder: Path, name: str) -> AsyncIterator[OnnxLane]:
    lane = next(lane for lane in local_lanes(folder) if lane.lane == name)
    try:
        yield lane
    finally:
        await lane.close()


def cosines(question: bytes, others: Sequence[bytes]) -> list[float]:
    asked = np.frombuffer(question, "<f4")
    return [float(asked @ np.frombuffer(other, "<f4")) for other in others]


def test_every_text_with_words_belongs_to_one_lane(lanes: Lanes) -> None:
    def taking(text: str) -> list[str]:
        return [name for name, lane in lanes.items() if lane.takes(text)]

    assert taking("我皮肤敏感") == taking("My 手机 is new") == ["zh"]
    assert taking("My phone is new") == taking("Привет") == taking("42") == ["en"]
    assert taking("") == taking(" \n") == []


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(("name", "dimension"), [("zh", 512), ("en", 384)])
def test_vectors_are_units_of_the_models_dimension(
    lanes: Lanes, runner: asyncio.Runner, name: str, dimension: int
) -> None:
    lane = lanes[name]
    made = runner.run(lane.embed(["早上好", "good morning", "x" * 20_000, "😀", "长" * 5_000]))
    assert lane.dimension == dimension
    assert {len(vector) for vector in made} == {4 * dimension}
    lengths = [float(np.linalg.norm(np.frombuffer(vector, "<f4"))) for vector in made]
    assert lengths == pytest.approx([1.0] * 5, abs=1e-5)


@pytest.mark.parametrize("name", ["zh", "en"])
def test_a_text_has_the_same_vector_whatever_its_neighbours(lanes: Lanes, runner: asyncio.Runner, name: str) -> None:
    text = "我喜欢喝茶 and coffee"
    [alone] = runner.run(lanes[name].embed([text]))
    among = runner.run(lanes[name].embed(["something else entirely", text, "另一句很长很长的话" * 20]))
    assert among[1] == alone


@pytest.mark.parametrize(
    ("name", "question", "meant", "others"),
    [
        ("zh", "她对什么食物有不良反应？", "林小姐一吃花生就起疹子", ["她昨天买了一台电脑", "火车晚点了两个小时"]),
        ("zh", "他住在哪座城市？", "王先生的家在杭州", ["他的狗叫豆豆", "会议改到了下午"]),
        ("en", "Which animals scare my kid?", "My daughter is afraid of dogs.", ["The train was late.", "I like tea."]),
        ("en", "What does he do for a living?", "Tom works as a nurse.", ["The sky is grey today.", "Buy some milk."]),
    ],
)
def test_a_paraphrase_is_nearer_than_what_has_nothing_to_do_with_it(
    lanes: Lanes, runner: asyncio.Runner, name: str, question: str, meant: str, others: list[str]
) -> None:
    asked, *answers = runner.run(lanes[name].embed([question, meant, *others]))
    near, *far = cosines(asked, answers)
    assert near > max(far)
    assert near > lanes[name].scale[0]


def test_the_model_is_the_hash_of_its_file(lanes: Lanes) -> None:
    assert {name: lane.model for name, lane in lanes.items()} == {"zh": "15b717c382bcb518", "en": "6c9c6101a956d62d"}


def test_nothing_is_loaded_before_it_is_used(fetched: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from rememberd.providers.onnx import local_lanes;"
        "local_lanes(Path(sys.argv[1])); print('onnxruntime' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program, str(fetched)], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


def test_a_lane_without_its_files_says_so_and_the_other_goes_on(copied: Path, runner: asyncio.Runner) -> None:
    (copied / EN.tokenizer.name).unlink()
    zh, en = local_lanes(copied)
    assert zh.absent is None
    assert en.absent == "bge-small-en-v1.5-q-tokenizer.json is missing; rememberd models pull"
    assert runner.run(zh.embed(["你好"]))
    with pytest.raises(ModelUnavailable, match=r"bge-small-en-v1\.5-q-tokenizer\.json is missing"):
        runner.run(en.embed(["hello"]))


def test_a_truncated_file_is_named_and_a_mended_one_is_taken_up(
    copied: Path, fetched: Path, runner: asyncio.Runner
) -> None:
    whole = (copied / EN.onnx.name).read_bytes()
    (copied / EN.onnx.name).write_bytes(whole[:-1])
    _, en = local_lanes(copied)
    assert en.absent is None
    with pytest.raises(ModelUnavailable, match=r"bge-small-en-v1\.5-q\.onnx is damaged; rememberd models pull"):
        runner.run(en.embed(["hello"]))
    (copied / EN.onnx.name).write_bytes(whole)
    assert runner.run(en.embed(["hello"]))


def test_engines_of_one_process_share_a_model_and_the_last_lets_it_go(fetched: Path, runner: asyncio.Runner) -> None:
    held = {id(loaded) for loaded in onnx._shared.values()}
    one, other = local_lanes(fetched)[0], local_lanes(fetched)[0]
    runner.run(one.embed(["你好"]))
    runner.run(other.embed(["你好"]))
    assert one._loaded is other._loaded is not None
    runner.run(one.close())
    assert runner.run(other.embed(["再见"]))
    runner.run(other.close())
    gc.collect()
    assert {id(loaded) for loaded in onnx._shared.values()} <= held


@pytest.mark.parametrize("file", [ZH.onnx, ZH.tokenizer])
def test_a_changed_byte_is_noticed_when_loading_and_a_mended_file_is_taken_up(
    copied: Path, fetched: Path, runner: asyncio.Runner, file: File
) -> None:
    name = file.name
    content = bytearray((copied / name).read_bytes())
    content[1000] ^= 1
    (copied / name).write_bytes(content)

    async def story() -> None:
        async with lane_of(copied, "zh") as lane:
            for _ in range(2):
                with pytest.raises(ModelUnavailable, match="damaged"):
                    await lane.embed(["你好"])
            with pytest.raises(ModelUnavailable, match="damaged; rememberd models pull"):
                await lane.check()
            shutil.copy(fetched / name, copied / name)
            await lane.check()
            assert await lane.embed(["你好"])

    runner.run(story())
