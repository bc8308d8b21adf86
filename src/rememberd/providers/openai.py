"""An embeddings endpoint that speaks OpenAI's protocol, as one lane for every text."""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
import time
from typing import TYPE_CHECKING

import httpx2
import msgspec
import numpy as np

from rememberd.errors import ModelUnavailable, SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ATTEMPTS = 3
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_REST = 5.0  # seconds without asking, after an endpoint failed for good: queries do not wait for it again and again
_TIMEOUT = 10.0
_TRY_AGAIN = frozenset((408, 429, 500, 502, 503, 504))


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct):
    data: list[_Embedding]


_decode = msgspec.json.Decoder(_Answer).decode


class OpenAIEmbedder:
    """Asks ``url``/embeddings for vectors of ``name``. Of its scale nothing is known, so cosines count as they are."""

    lane = "openai"
    scale = (0.0, 0.2)
    window = 500  # most of them take more, but a vector of much text says little of any of it
    absent = None

    def __init__(
        self, url: str, name: str, dimension: int, api_key: str | None = None, *, timeout: float = _TIMEOUT
    ) -> None:
        self.dimension = dimension
        self.model = hashlib.sha256(f"{name}\n{dimension}".encode()).hexdigest()[:16]
        self.recipe = {"embedder": "openai", "url": _without_password(url), "name": name, "dimension": str(dimension)}
        self._name = name
        self._url = f"{url.rstrip('/')}/embeddings"
        headers = {"Content-Type": "application/json"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        self._http = httpx2.AsyncClient(headers=headers, timeout=timeout)
        self._failure: ModelUnavailable | SettingsError | None = None
        self._rest_until = 0.0

    def takes(self, text: str) -> bool:
        return bool(text.strip())

    def asks(self, text: str) -> bool:
        return self.takes(text)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Raises ``SettingsError`` if the vectors have another dimension than ``models.dimension``."""
        if not texts:
            return []
        if self._failure is not None and time.monotonic() < self._rest_until:
            raise type(self._failure)(self._failure.detail)
        try:
            vectors = self._read(await self._ask(texts), len(texts))
        except (ModelUnavailable, SettingsError) as failure:
            self._failure = failure
            self._rest_until = max(self._rest_until, time.monotonic() + _REST)
            raise
        self._failure = None
        return vectors

    async def check(self) -> None:
        if self._failure is not None:
            raise type(self._failure)(self._failure.detail)

    async def close(self) -> None:
        await self._http.aclose()

    async def _ask(self, texts: Sequence[str]) -> bytes:
        body = msgspec.json.encode({"model": self._name, "input": list(texts), "encoding_format": "float"})
        failure = ""
        for attempt in range(_ATTEMPTS):
            pause = _FIRST_PAUSE * 2.0**attempt * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
            try:
                response = await self._http.post(self._url, content=body)
            except httpx2.TransportError as error:
                failure = f"does not answer ({type(error).__name__})"
            else:
                if response.is_success:
                    return response.content
                failure = f"answered {response.status_code}"
                if response.status_code not in _TRY_AGAIN:
                    break
                pause = max(pause, _retry_after(response))
            if pause > _LONGEST_PAUSE:
                self._rest_until = time.monotonic() + pause
                break
            if attempt + 1 < _ATTEMPTS:
                await asyncio.sleep(pause)
        raise ModelUnavailable(f"the embeddings endpoint {failure}")

    def _read(self, body: bytes, expected: int) -> list[bytes]:
        try:
            found = sorted(_decode(body).data, key=lambda each: each.index)
        except msgspec.MsgspecError as error:
            raise ModelUnavailable(f"the embeddings endpoint answered something else than vectors: {error}") from error
        if [each.index for each in found] != list(range(expected)):
            raise ModelUnavailable(f"the embeddings endpoint answered {len(found)} vectors for {expected} texts")
        return [self._unit(each.embedding) for each in found]

    def _unit(self, embedding: list[float]) -> bytes:
        if len(embedding) != self.dimension:
            raise SettingsError(
                f"models.dimension is {self.dimension}, but {self._name} makes vectors of {len(embedding)}"
            )
        vector = np.array(embedding, dtype=np.float64)
        length = np.linalg.norm(vector)
        if not np.isfinite(length) or not length:
            raise ModelUnavailable("the embeddings endpoint answered a vector without a direction")
        unit: bytes = (vector / length).astype("<f4").tobytes()
        return unit


def _without_password(url: str) -> str:
    return re.sub(r"://[^/@\s]*@", "://", url)


def _retry_after(response: httpx2.Response) -> float:
    """Seconds the server asks to wait; a date is not understood, and is no reason to wait."""
    try:
        return max(0.0, float(response.headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0
