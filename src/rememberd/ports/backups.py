"""Backups: everything that a place keeps, as one archive, made while it is being written to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rememberd.model import Progress

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_SEAL = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """The next bytes of an archive (none, while it is being prepared), and how far the work has come."""

    data: bytes
    progress: Progress


class Backups(Protocol):
    def pieces(self) -> AsyncGenerator[Piece, None]:
        """An archive of everything acknowledged before the first piece is asked for, and perhaps of some of the rest.

        Writers go on meanwhile. All that can fail for want of room here fails before the first bytes. The archive ends
        with its seal. Raises ``Unsupported``, which names what to use instead, where the place has tools of its own.
        """
        ...


class Seal:
    """What an archive ends with: the SHA-256, in hexadecimal, of all that stands before it.

    ``through`` is handed every byte of an archive, in order, and holds back the last ones, where the seal is.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._held = b""

    def through(self, data: bytes) -> bytes:
        """The bytes before the seal, as far as they are known."""
        whole = self._held + data
        body, self._held = whole[:-_SEAL], whole[-_SEAL:]
        self._digest.update(body)
        return body

    @property
    def held(self) -> bytes:
        """What stands where the seal belongs."""
        return self._held

    @property
    def made(self) -> bytes:
        """What belongs there."""
        return self._digest.hexdigest().encode()

    @property
    def whole(self) -> bool:
        return self._held == self.made


#: Keeps the place of a seal until it can be made.
UNSEALED = b"0" * _SEAL
