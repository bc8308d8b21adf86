"""A disk that remembers what was written and what was synced, and shows what a power cut would have left of it.

It stands below SQLite as a VFS. A write is on the disk for sure once its file was synced; until then a cut may keep it,
drop it, or keep some of its sectors. A file's name appears with its first sync, and disappears for sure with the next
sync of any file after it was deleted, as on a file system that journals its names in order.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

Fate = Literal["dropped", "kept", "torn"]

SECTOR = 512

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Write:
    file: str
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    file: str
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    file: str


@dataclass(frozen=True, slots=True)
class Delete:
    file: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened elsewhere at this moment."""

    what: Any


Event = Write | Truncate | Sync | Delete | Mark


class RecordingDisk(apsw.VFS):
    """Everything that SQLite does to its files, in order, in ``events``. Open a database with ``vfs=disk.name``."""

    def __init__(self) -> None:
        self.name = f"rememberd-recording-{next(_numbers)}"
        self.events: list[Event] = []
        super().__init__(self.name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return _RecordedFile(self.events, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name and signature
        super().xDelete(filename, syncdir)
        self.events.append(Delete(Path(filename).name))

    def close(self) -> None:
        self.unregister()


class _RecordedFile(apsw.VFSFile):
    def __init__(self, events: list[Event], name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._events, self._file = events, Path(path).name

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._events.append(Write(self._file, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._events.append(Truncate(self._file, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._events.append(Sync(self._file))


@dataclass(slots=True)
class _File:
    """What is on the disk for sure, and what came since."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[Write | Truncate] = field(default_factory=list)
    is_named: bool = False
    is_deleted: bool = False

    def settle(self) -> None:
        for change in self.pending:
            _carry_out(self.synced, change)
        self.pending.clear()
        self.is_named = True


class Platter:
    """The disk as it was after some of the events; ``after_cut`` is what the next start would find."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def follow(self, event: Event) -> None:
        match event:
            case Write() | Truncate():
                if event.file not in self._files or self._files[event.file].is_deleted:
                    self._files[event.file] = _File()
                self._files[event.file].pending.append(event)
            case Delete():
                if event.file in self._files:
                    self._files[event.file].is_deleted = True
            case Sync():
                self._files = {name: file for name, file in self._files.items() if not file.is_deleted}
                self._files.setdefault(event.file, _File()).settle()
            case Mark():
                pass

    def after_cut(self, fate: Fate, random: Random) -> dict[str, bytes]:
        """The content of every file, if what was not synced had this fate."""
        left: dict[str, bytes] = {}
        for name, file in self._files.items():
            is_gone = file.is_deleted and (fate == "kept" or (fate == "torn" and random.random() < 0.5))
            is_there = file.is_named or fate == "kept" or (fate == "torn" and random.random() < 0.5)
            if is_there and not is_gone:
                content = bytearray(file.synced)
                for change in _survivors(file.pending, fate, random):
                    _carry_out(content, change)
                left[name] = bytes(content)
        return left


def _survivors(pending: list[Write | Truncate], fate: Fate, random: Random) -> Iterator[Write | Truncate]:
    """Which changes reached the disk; torn ones by sectors, in any order."""
    if fate == "kept":
        yield from pending
    if fate == "torn":
        for change in pending:
            if isinstance(change, Truncate):
                if random.random() < 0.5:
                    yield change
            else:
                yield from (piece for piece in _sectors(change) if random.random() < 0.5)


def _sectors(write: Write) -> Iterator[Write]:
    begin = write.offset
    end = write.offset + len(write.data)
    while begin < end:
        until = min(end, (begin // SECTOR + 1) * SECTOR)
        yield Write(write.file, begin, write.data[begin - write.offset : until - write.offset])
        begin = until


def _carry_out(content: bytearray, change: Write | Truncate) -> None:
    if isinstance(change, Truncate):
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
    else:
        content.extend(bytes(max(0, change.offset - len(content))))
        content[change.offset : change.offset + len(change.data)] = change.data
