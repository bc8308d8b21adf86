"""A file layer that remembers what it did, and the disk as a power cut may leave it: what was not synced is unsure."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rememberd.backends.folder.files import Files

if TYPE_CHECKING:
    import random


class RecordingFiles(Files):
    """Does everything, and keeps a list of it. A test adds its own marks: what it was answered, and when."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []
        self._names: dict[int, Path] = {}

    def mark(self, *what: Any) -> None:
        self.events.append(("mark", *what))

    def create(self, path: Path) -> int:
        descriptor = super().create(path)
        self._names[descriptor] = path
        self.events.append(("create", path))
        return descriptor

    def append(self, file: int, data: bytes) -> None:
        super().append(file, data)
        self.events.append(("append", self._names[file], data))

    def sync(self, file: int) -> None:
        super().sync(file)
        self.events.append(("sync", self._names[file]))

    def truncate(self, path: Path, length: int) -> None:
        super().truncate(path, length)
        self.events.append(("truncate", path, length))

    def rename(self, path: Path, to: Path) -> None:
        raise NotImplementedError("no test renames")

    def remove(self, path: Path) -> None:
        super().remove(path)
        self.events.append(("remove", path))

    def sync_folder(self, folder: Path) -> None:
        super().sync_folder(folder)
        self.events.append(("sync_folder", folder))


class NeverSynced(RecordingFiles):
    """The control: it forgets to sync what it wrote."""

    def sync(self, file: int) -> None:
        pass


@dataclass
class _File:
    named: bool = False
    removed: bool = False
    data: bytes = b""
    synced: int = 0


@dataclass
class Disk:
    """What is on the disk after some events: for sure, and perhaps."""

    files: dict[Path, _File] = field(default_factory=dict)
    marks: list[tuple[Any, ...]] = field(default_factory=list)

    @classmethod
    def after(cls, events: list[tuple[Any, ...]]) -> Disk:
        disk = cls()
        for kind, *what in events:
            getattr(disk, f"_{kind}")(*what)
        return disk

    def cut(self, into: Path, chance: random.Random) -> None:
        """Write the folder as the cut left it: of what was not synced, some is kept, some is dropped, some is torn."""
        into.mkdir()
        for path, file in self.files.items():
            if (not file.named or file.removed) and chance.random() < 0.5:
                continue
            unsure = file.data[file.synced :]
            kept = chance.choice([b"", unsure, unsure[: chance.randint(0, len(unsure))], b"\0" * len(unsure)])
            (into / path.name).write_bytes(file.data[: file.synced] + kept)

    def _mark(self, *what: Any) -> None:
        self.marks.append(what)

    def _create(self, path: Path) -> None:
        self.files[path] = _File()

    def _append(self, path: Path, data: bytes) -> None:
        self.files[path].data += data

    def _sync(self, path: Path) -> None:
        self.files[path].synced = len(self.files[path].data)

    def _truncate(self, path: Path, length: int) -> None:
        file = self.files[path]
        file.data = file.data[:length]
        file.synced = length

    def _remove(self, path: Path) -> None:
        if path in self.files:
            self.files[path].removed = True

    def _sync_folder(self, folder: Path) -> None:
        for path, file in list(self.files.items()):
            if path.parent == folder:
                file.named = True
                if file.removed:
                    del self.files[path]
