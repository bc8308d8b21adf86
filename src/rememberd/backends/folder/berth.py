"""Berths: processes that spool beside one database server have a folder each, locked while they live."""

from __future__ import annotations

import fcntl
import os
import uuid
from typing import TYPE_CHECKING

from .files import Files

if TYPE_CHECKING:
    from pathlib import Path

_LOCK = "lock"
_SUFFIXES = ("spool", "dead")


class Berth(Files):
    """A process's own folder below ``place``; what processes that are gone left in theirs is taken over at the start.

    Nothing is made on disk before something is spooled: a process that never spools needs no place to write.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        abandoned = _abandoned(place)
        if abandoned:
            self.folder, self._lock = abandoned[0]
            for folder, lock in abandoned[1:]:
                self._take_over(folder)
                os.close(lock)
        else:
            self.folder, self._lock = place / uuid.uuid4().hex, -1

    def make_folder(self, folder: Path) -> None:
        """Locked before it has its name, so that nobody takes it for abandoned."""
        if self._lock >= 0:
            return
        self.make_folders(self._place)
        begun = self._place / f".{self.folder.name}"
        super().make_folder(begun)
        lock = _locked(begun)
        assert lock is not None
        begun.rename(folder)
        self.sync_folder(self._place)
        self._lock = lock

    def leave(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _take_over(self, folder: Path) -> None:
        """Its files come behind ours, in their order."""
        for suffix in _SUFFIXES:
            last = max((int(path.stem) for path in self.folder.glob(f"*.{suffix}")), default=0)
            for i, path in enumerate(sorted(folder.glob(f"*.{suffix}")), last + 1):
                self.rename(path, self.folder / f"{i:08d}.{suffix}")
        for path in folder.glob("*.damaged"):
            self.rename(path, self.folder / f"{folder.name}-{path.name}")
        self.sync_folder(self.folder)
        self.sync_folder(folder)
        self.remove(folder / _LOCK)
        folder.rmdir()


def _abandoned(place: Path) -> list[tuple[Path, int]]:
    """The folders whose processes are gone, each locked now."""
    if not place.is_dir():
        return []
    folders = sorted(each for each in place.iterdir() if each.is_dir() and not each.name.startswith("."))
    return [(folder, lock) for folder in folders if (lock := _locked(folder)) is not None]


def _locked(folder: Path) -> int | None:
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
