"""The embedder for tests: the same text gives the same vector, and that is all it means."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


class TestEmbedder:
    """Deterministic and meaningless: shows that vectors are stored, indexed and compared, and no more.

    Vectors of another name are others.
    """

    __test__ = False  # not a test case

    lane = "test"
    scale = (0.0, 0.2)
    window = 200
    absent = None

    def __init__(self, name: str = "test-1", dimension: int = 32) -> None:
        self.model = name
        self.recipe = {"embedder": "test", "name": name}
        self.dimension = dimension

    def takes(self, text: str) -> bool:
        return bool(text.strip())

    def asks(self, text: str) -> bool:
        return self.takes(text)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [self._vector(text) for text in texts]

    async def check(self) -> None:
        """Nothing can be wrong with it."""

    async def close(self) -> None:
        """Nothing is held."""

    def _vector(self, text: str) -> bytes:
        seed = int.from_bytes(hashlib.sha256(f"{self.model}\n{text}".encode()).digest()[:8], "little")
        vector = np.random.default_rng(seed).standard_normal(self.dimension).astype("<f4")
        unit: bytes = (vector / np.linalg.norm(vector)).astype("<f4").tobytes()
        return unit
