"""Models: what turns text into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .vectors import Space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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

    @property
    def scale(self) -> tuple[float, float]:
        """Mean and standard deviation of the cosine of two random texts, so that scores of models compare."""
        ...

    @property
    def window(self) -> int:
        """How many tokens, as ``language.tokens`` estimates them, a text may have; others are embedded in parts."""
        ...

    @property
    def recipe(self) -> Mapping[str, str]:
        """How it is made, so that it can be made again after the settings changed; no secrets."""
        ...

    @property
    def absent(self) -> str | None:
        """Why there is nothing to embed with, and after a semicolon the cure; None if it is there, whole or not.

        Costs next to nothing: it is asked with every query.
        """
        ...

    def takes(self, text: str) -> bool:
        """Whether this lane has vectors of such texts."""
        ...

    def asks(self, text: str) -> bool:
        """Whether a question of such a text is put to this lane; mostly the same."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A unit vector per text, as little-endian float32 bytes, in order.

        The same text gives the same vector, whatever its neighbours. Raises ``ModelUnavailable`` if the model is
        damaged or does not answer; a later call may succeed.
        """
        ...

    async def check(self) -> None:
        """Raise ``ModelUnavailable`` if it is known that it cannot embed. Loads nothing and asks nobody."""
        ...

    async def close(self) -> None:
        """Let go of threads and connections."""
        ...


def space_of(embedder: Embedder) -> Space:
    """What the vectors of an embedder are in."""
    return Space(embedder.lane, embedder.model, embedder.recipe)
