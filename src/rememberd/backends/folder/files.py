"""Files as the spool uses them: every change to the disk goes through here, so that tests can replay a power cut."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PRIVATE = 0o600


class Files:
    """Plain files. What was not synced may be lost, kept or reordered by a power cut; so may names in a folder."""

    def make_folder(self, folder: Path) -> None:
        """Make a folder in one that is there, durably. A data folder that was moved away is not made again."""
        if not folder.is_dir():
            folder.mkdir(exist_ok=True, mode=0o700)
            self.sync_folder(folder.parent)

    def make_folders(self, folder: Path) -> None:
        """Make a folder and those above it, durably."""
        if not folder.is_dir():
            self.make_folders(folder.parent)
            Files.make_folder(self, folder)

    def create(self, path: Path) -> int:
        """A new file to append to."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, _PRIVATE)

    def append(self, file: int, data: bytes) -> None:
        """Append all of it, or raise ``OSError`` with any part of it written."""
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]

    def sync(self, file: int) -> None:
        os.fsync(file)

    def close(self, file: int) -> None:
        os.close(file)

    def truncate(self, path: Path, length: int) -> None:
        """Cut a file, durably."""
        file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(file, length)
            os.fsync(file)
        finally:
            os.close(file)

    def rename(self, path: Path, to: Path) -> None:
        path.replace(to)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder durable."""
        opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
