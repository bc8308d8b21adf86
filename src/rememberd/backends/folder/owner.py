"""The owner of a folder: the one process that has it open."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from rememberd.errors import FolderInUse, StorageUnavailable

if TYPE_CHECKING:
    from pathlib import Path

_LOCK = "owner.lock"
_CARD = "owner.json"


@dataclass(frozen=True, slots=True)
class OwnerCard:
    """What an owner tells about itself; ``token`` opens its server to whoever may read the folder.

    An owner that ``will_serve`` is worth waiting for until its ``url`` is known.
    """

    pid: int
    will_serve: bool = False
    url: str | None = None
    token: str | None = None


class Ownership:
    """Holds the folder's lock for the life of the process, or until it is released.

    The operating system lets go of the lock when the process dies, however it dies.
    """

    def __init__(self, folder: Path, lock: int, *, will_serve: bool) -> None:
        self._folder = folder
        self._lock = lock
        self._introduce(OwnerCard(os.getpid(), will_serve))

    @classmethod
    def take(cls, folder: Path, *, will_serve: bool = False) -> Ownership:
        """Become the owner. Raises ``FolderInUse`` if another process is."""
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageUnavailable(f"the folder {folder} cannot be used: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise FolderInUse(_in_use(folder, owner_of(folder))) from error
        return cls(folder, lock, will_serve=will_serve)

    def serve_at(self, url: str, token: str) -> None:
        """Tell others where to find this owner's server."""
        self._introduce(OwnerCard(os.getpid(), True, url, token))

    def release(self) -> None:
        if self._lock >= 0:
            (self._folder / _CARD).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = -1

    def _introduce(self, card: OwnerCard) -> None:
        fresh = self._folder / f"{_CARD}.{os.getpid()}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(card))
        fresh.replace(self._folder / _CARD)


def owner_of(folder: Path) -> OwnerCard | None:
    """The card of the folder's owner; information only: the lock alone decides who owns it."""
    try:
        return msgspec.json.decode((folder / _CARD).read_bytes(), type=OwnerCard)
    except (OSError, msgspec.MsgspecError):
        return None


def _in_use(folder: Path, card: OwnerCard | None) -> str:
    who = f"process {card.pid}" if card else "another process"
    if card and card.url:
        return f"{folder} is served at {card.url} by {who}; if that does not answer, end it"
    return f"{folder} is in use by {who}; end it, or let it be shared with `rememberd serve --data {folder}`"
