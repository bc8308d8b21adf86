"""Embedding lanes that run here, on onnxruntime: loaded when first used, one text per run."""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from rememberd.errors import ModelUnavailable
from rememberd.language.segment import has_han

from .catalogue import EN, ZH
from .model_folder import CURE, pinned, stamp
from .wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from .catalogue import LaneModel


_WINDOW = 200  # estimated tokens: the models take 512 pieces, but a vector of much text says little of any of it

#: What is loaded in this process, by file: engines share it, and the last one lets it go.
_shared: WeakValueDictionary[tuple[str, ...], _Loaded] = WeakValueDictionary()


@functools.cache
def models_thread() -> ThreadPoolExecutor:
    """One thread does the work of all lanes and engines: callers come first, so no more than one core is taken."""
    return ThreadPoolExecutor(1, thread_name_prefix="rememberd-models")


class OnnxLane:
    """A lane whose model is in the models folder; loaded when first used, once for all engines of the process.

    The models quantise over a whole batch, so a text gets a vector of its own only if it is run by itself. Queries
    come in between the texts of a batch for the same reason.
    """

    def __init__(self, model: LaneModel, folder: Path, takes: Callable[[str], bool]) -> None:
        self.lane = model.lane
        self.model = model.onnx.sha256[:16]
        self.dimension = model.dimension
        self.scale = (model.mean, model.deviation)
        self.window = _WINDOW
        self.recipe = {"embedder": "auto"}
        self._pinned = (model.onnx, model.tokenizer)
        self._folder = folder
        self._ends = model.ends
        self._takes = takes
        self._loaded: _Loaded | None = None
        self._failure: tuple[object, str] | None = None

    @property
    def absent(self) -> str | None:
        if self._loaded is not None:
            return None
        if not _has_runtime():
            return "onnxruntime is not installed; pip install 'rememberd[models]'"
        missing = (file.name for file in self._pinned if not (self._folder / file.name).exists())
        return next((f"{name} is missing; {CURE}" for name in missing), None)

    def takes(self, text: str) -> bool:
        return self._takes(text)

    def asks(self, text: str) -> bool:
        return self._takes(text)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        loop = asyncio.get_running_loop()
        return [await loop.run_in_executor(models_thread(), self._embed, text) for text in texts]

    async def check(self) -> None:
        if self._loaded is None:
            await asyncio.get_running_loop().run_in_executor(models_thread(), self._check)

    async def close(self) -> None:
        self._loaded = None

    def _check(self) -> None:
        for file in self._pinned:
            pinned(self._folder, file)

    def _embed(self, text: str) -> bytes:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded.vector(text.rstrip(self._ends) or text)

    def _load(self) -> _Loaded:
        """Load the model. A failure is remembered until the files change, so that trying again costs nothing."""
        seen = [stamp(self._folder / file.name) for file in self._pinned]
        if self._failure is not None and self._failure[0] == seen:
            raise ModelUnavailable(self._failure[1])
        address = (str(self._folder), *(file.sha256 for file in self._pinned))
        held = _shared.get(address)
        if held is not None:
            return held
        try:
            onnx, tokenizer = (pinned(self._folder, file) for file in self._pinned)
            loaded = _Loaded(_session(onnx), WordPiece(tokenizer.read_bytes()), self.dimension)
        except ModelUnavailable as failure:
            self._failure = (seen, failure.detail)
            raise
        _shared[address] = loaded
        return loaded


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _Loaded:
    session: Any
    tokenizer: WordPiece
    dimension: int

    def vector(self, text: str) -> bytes:
        ids = np.array([self.tokenizer.ids(text)], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        first = self.session.run(None, given)[0][0, 0]
        unit: bytes = (first / np.linalg.norm(first)).astype("<f4").tobytes()
        return unit


def local_lanes(folder: Path) -> tuple[OnnxLane, ...]:
    """The lanes of the models folder, whether their models are there or not: each goes by itself."""
    return (
        OnnxLane(ZH, folder, has_han),
        OnnxLane(EN, folder, lambda text: not has_han(text) and bool(text.strip())),
    )


@functools.cache
def _has_runtime() -> bool:
    return importlib.util.find_spec("onnxruntime") is not None


def _session(onnx: Path) -> Any:
    """One thread for a text: callers come first, and a short text gains nothing from more."""
    runtime = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(str(onnx), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors have no common class
        raise ModelUnavailable(f"onnxruntime cannot load the model: {error}") from error
