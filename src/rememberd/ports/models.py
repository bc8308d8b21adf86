"""Models: what turns text into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Embedder(Protocol):
    """One lane of embedding."""

    @property
    def lane(self) -> str:
        """The lane's name."""
        ...

    @property
    def model(self) -> str:
        """The hash of the model: other vectors do not compare with these."""
        ...

    @property
    def dimension(self) -> int: ...

    def takes(self, text: str) -> bool:
        """Whether this lane embeds such a text."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A unit vector per text, as little-endian float32 bytes, in order."""
        ...
