"""Embeddings kept in a file, so that a second run of a bench does not wait for the models."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import apsw

from rememberd import wiring

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rememberd.ports.models import Embedder
    from rememberd.settings import Settings


class KeptEmbedder:
    """An embedder that embeds each text once, by the hash of its model and the digest of the text."""

    def __init__(self, embedder: Embedder, file: apsw.Connection) -> None:
        self._embedder = embedder
        self._file = file
        self._known: dict[bytes, bytes] = dict(
            file.execute("SELECT digest, data FROM vectors WHERE model = ?", [embedder.model])
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        unknown = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in self._known}
        made = dict(zip(unknown, await self._embedder.embed(list(unknown.values())), strict=True))
        self._known |= made
        self._file.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            [(self._embedder.model, digest, data) for digest, data in made.items()],
        )
        return [self._known[digest] for digest in digests]


@contextlib.contextmanager
def kept_embeddings(path: Path | str = ":memory:") -> Iterator[None]:
    """While this lasts, stores are opened with the embedders that they would have, and these remember."""
    file = apsw.Connection(str(path))
    file.execute(
        "PRAGMA synchronous = OFF;"
        "CREATE TABLE IF NOT EXISTS vectors (model TEXT, digest BLOB, data BLOB, PRIMARY KEY (model, digest))"
    )
    make = wiring.embedding.embedders

    def kept(settings: Settings) -> tuple[tuple[Embedder, ...], dict[str, str]]:
        embedders, missing = make(settings)
        return tuple(KeptEmbedder(embedder, file) for embedder in embedders), missing

    with patch.object(wiring.embedding, "embedders", kept):
        yield
    file.close()
