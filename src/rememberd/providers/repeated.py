"""Texts that come again: the same greeting, the same question. Their vectors are remembered for a while."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rememberd.ports.models import Embedder

_REMEMBERED = 4096
_BYTES = 4  # of a float32


class Repeated:
    """An embedder that asks another, and remembers the last few thousand vectors by a digest of their texts."""

    def __init__(self, embedder: Embedder, remembered: int = _REMEMBERED) -> None:
        self._embedder = embedder
        self._remembered = remembered
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()

    @property
    def lane(self) -> str:
        return self._embedder.lane

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def scale(self) -> tuple[float, float]:
        return self._embedder.scale

    @property
    def window(self) -> int:
        return self._embedder.window

    @property
    def recipe(self) -> Mapping[str, str]:
        return self._embedder.recipe

    @property
    def absent(self) -> str | None:
        return self._embedder.absent

    def takes(self, text: str) -> bool:
        return self._embedder.takes(text)

    def asks(self, text: str) -> bool:
        return self._embedder.asks(text)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        digests = [_digest(text) for text in texts]
        known = {digest: self._vectors[digest] for digest in digests if digest in self._vectors}
        unknown = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if unknown:
            known |= zip(unknown, await self._embedder.embed(list(unknown.values())), strict=True)
        for digest in digests:
            if len(known[digest]) == _BYTES * self.dimension:  # what is wrong is not remembered
                self._vectors[digest] = known[digest]
                self._vectors.move_to_end(digest)
        while len(self._vectors) > self._remembered:
            self._vectors.popitem(last=False)
        return [known[digest] for digest in digests]

    async def check(self) -> None:
        await self._embedder.check()

    async def close(self) -> None:
        await self._embedder.close()


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
