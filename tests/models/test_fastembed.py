"""A model of fastembed's, from a folder and without a network."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rememberd.errors import ModelUnavailable, SettingsError
from rememberd.providers.catalogue import EN
from rememberd.providers.fastembed import FastembedEmbedder
from rememberd.wiring import open_reference
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NAME = "BAAI/bge-small-en-v1.5"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("fastembed") is None,
    reason="fastembed is not installed: rememberd[fastembed]",
)


@pytest.fixture
def folder(fetched: Path, tmp_path: Path) -> Path:
    """The English model, laid out as fastembed expects it."""
    made = tmp_path / "bge"
    made.mkdir()
    shutil.copy(fetched / EN.onnx.name, made / "model_optimized.onnx")
    shutil.copy(fetched / EN.tokenizer.name, made / "tokenizer.json")
    (made / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (made / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512, "pad_token": "[PAD]"}))
    (made / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}))
    return made


def embed(embedder: FastembedEmbedder, texts: Sequence[str]) -> list[Any]:
    return [np.frombuffer(vector, "<f4") for vector in asyncio.run(embedder.embed(texts))]


@pytest.mark.usefixtures("no_network")
def test_near_in_meaning_is_near_in_direction(folder: Path) -> None:
    embedder = FastembedEmbedder(folder, NAME, 384)
    assert embedder.absent is None
    asked, meant, other = embed(
        embedder, ["Which animals scare my kid?", "My daughter is afraid of dogs.", "The train was late."]
    )
    assert len(asked) == 384
    assert np.linalg.norm(asked) == pytest.approx(1.0, abs=1e-5)
    assert asked @ meant > asked @ other


def test_another_file_is_another_model(folder: Path) -> None:
    before = FastembedEmbedder(folder, NAME, 384).model
    assert FastembedEmbedder(folder, NAME, 384).model == before
    with (folder / "model_optimized.onnx").open("ab") as weights:
        weights.write(b"!")
    assert FastembedEmbedder(folder, NAME, 384).model != before


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    embedder = FastembedEmbedder(tmp_path, NAME, 384)
    assert embedder.absent == f"{tmp_path} has no model; put {NAME} there and start again"
    with pytest.raises(ModelUnavailable, match="has no model"):
        asyncio.run(embedder.check())


@pytest.mark.usefixtures("no_network")
def test_a_model_that_cannot_be_loaded_is_told(folder: Path) -> None:
    (folder / "model_optimized.onnx").write_bytes(b"no model")
    with pytest.raises(ModelUnavailable, match="fastembed cannot load"):
        embed(FastembedEmbedder(folder, NAME, 384), ["hello"])


def test_what_is_not_described_is_refused_at_the_start() -> None:
    with pytest.raises(SettingsError, match=r"models\.embedder is fastembed, but models\.path, models\.name"):
        asyncio.run(open_reference(plain_settings(models__embedder="fastembed")))


@pytest.mark.parametrize("dimension", [384, 512])
def test_a_store_goes_by_it_and_refuses_another_dimension(folder: Path, tmp_path: Path, dimension: int) -> None:
    chosen = {"embedder": "fastembed", "path": str(folder), "name": NAME, "dimension": dimension}
    settings = plain_settings(**{f"models__{name}": value for name, value in chosen.items()})
    store = Store("folder", tmp_path / "memory", settings)
    said = ["My daughter is afraid of dogs.", "The train to Oslo was late again."]
    receipts = store.run(store.memory.of(user="lin", thread="t").ingest(said)).receipts
    settled = store.run(store.memory.settle(30 if dimension == 384 else 3)).settled
    vectors = store.run(store.parts.storage.vectors.get("default", [receipt.id for receipt in receipts]))
    context = store.run(store.memory.of(user="lin").query("Which animals scare my kid?", floor=0.0))
    store.close()
    if dimension == 384:
        assert settled
        assert len(vectors) == 2
        assert context.raw[0].text == said[0]
    else:
        assert not settled
        assert vectors == []
