"""A model of fastembed's as one lane for every text, from a folder: nothing is fetched."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

from rememberd.errors import ModelUnavailable, SettingsError

from .model_folder import sha256_of, stamp
from .onnx import models_thread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_WEIGHTS = ("*.onnx", "*.onnx_data", "*.safetensors")


class FastembedEmbedder:
    """``name`` is fastembed's name of the model whose files are in ``folder``; loaded when first used.

    Of its scale nothing is known, so cosines count as they are.
    """

    lane = "fastembed"
    scale = (0.0, 0.2)
    window = 200

    def __init__(self, folder: Path, name: str, dimension: int) -> None:
        self.dimension = dimension
        self.model = hashlib.sha256(f"{name}\n{_digest(folder)}".encode()).hexdigest()[:16]
        self.recipe = {"embedder": "fastembed", "path": str(folder), "name": name, "dimension": str(dimension)}
        self._folder, self._name = folder, name
        self._loaded: Any = None
        self._failure: tuple[object, str] | None = None

    @property
    def absent(self) -> str | None:
        if self._loaded is not None:
            return None
        if importlib.util.find_spec("fastembed") is None:
            return "fastembed is not installed; pip install 'rememberd[fastembed]'"
        if not _weights(self._folder):
            return f"{self._folder} has no model; put {self._name} there and start again"
        return None

    def takes(self, text: str) -> bool:
        return bool(text.strip())

    def asks(self, text: str) -> bool:
        return self.takes(text)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        loop = asyncio.get_running_loop()
        return [await loop.run_in_executor(models_thread(), self._embed, text) for text in texts]

    async def check(self) -> None:
        if self.absent is not None:
            raise ModelUnavailable(self.absent)

    async def close(self) -> None:
        self._loaded = None

    def _embed(self, text: str) -> bytes:
        if self._loaded is None:
            self._loaded = self._load()
        [vector] = self._loaded.embed([text])  # one text per run: some models quantise over a batch
        if len(vector) != self.dimension:
            raise SettingsError(
                f"models.dimension is {self.dimension}, but {self._name} makes vectors of {len(vector)}"
            )
        unit: bytes = (vector / np.linalg.norm(vector)).astype("<f4").tobytes()
        return unit

    def _load(self) -> Any:
        """Load the model. A failure is remembered until the files change, so that trying again costs nothing."""
        if self.absent is not None:
            raise ModelUnavailable(self.absent)
        seen = [stamp(file) for file in self._folder.iterdir()]
        if self._failure is not None and self._failure[0] == seen:
            raise ModelUnavailable(self._failure[1])
        try:
            return importlib.import_module("fastembed").TextEmbedding(
                self._name, threads=1, specific_model_path=str(self._folder), local_files_only=True
            )
        except Exception as error:  # its own errors, the runtime's and the tokenizer's have no common class
            self._failure = (seen, f"fastembed cannot load {self._name} from {self._folder}: {error}")
            raise ModelUnavailable(self._failure[1]) from error


def _weights(folder: Path) -> list[Path]:
    return sorted(file for pattern in _WEIGHTS for file in folder.glob(pattern))


def _digest(folder: Path) -> str:
    return "\n".join(f"{file.name} {sha256_of(file)}" for file in _weights(folder))
