"""A journal: records appended to files that are rotated by size, each with its length and checksum."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rememberd import crash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from .files import Files

_MAGIC = b"\xabrmd"
_HEADER = struct.Struct(">4sII")  # magic, length and checksum of what follows


class Spot(NamedTuple):
    """Where a record stands."""

    file: int
    offset: int
    length: int


def framed(record: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, len(record), zlib.crc32(record)) + record


@dataclass(slots=True)
class _Open:
    """The file that is appended to."""

    number: int
    descriptor: int
    length: int = 0


class Journal:
    """Files ``NUMBER.suffix`` in a folder. One thread uses it; a file that was closed is never appended to again."""

    def __init__(self, files: Files, folder: Path, suffix: str, file_bytes: int) -> None:
        self._files, self._folder, self._suffix, self._file_bytes = files, folder, suffix, file_bytes
        self.sizes: dict[int, int] = {}
        self.damaged = 0
        self._open: _Open | None = None
        self._next = 1

    def load(self) -> Iterator[tuple[Spot, bytes]]:
        """Every whole record, in order. The torn end of the last file is cut off; other damage is kept aside."""
        numbers = sorted(int(path.stem) for path in self._folder.glob(f"*.{self._suffix}") if path.stem.isdigit())
        self.damaged = len(list(self._folder.glob(f"*.{self._suffix}.damaged")))
        for number in numbers:
            self._next = number + 1
            yield from self._scan(number, is_last=number == numbers[-1])

    def append(self, records: Sequence[bytes], *, sync: bool = True) -> list[Spot]:
        """Append records, durably; all or none of them. Raises ``OSError``."""
        if self._open is not None and self._open.length >= self._file_bytes:
            self.rotate()
            crash.point("spool.rotate")
        file = self._open or self._begin()
        spots, offset = [], file.length
        for record in records:
            spots.append(Spot(file.number, offset + _HEADER.size, len(record)))
            offset += _HEADER.size + len(record)
        try:
            self._files.append(file.descriptor, b"".join(map(framed, records)))
            if sync:
                self._files.sync(file.descriptor)
        except OSError:
            self._take_back(file)
            raise
        file.length = self.sizes[file.number] = offset
        return spots

    def read(self, spot: Spot) -> bytes:
        with self._path(spot.file).open("rb") as file:
            file.seek(spot.offset)
            return file.read(spot.length)

    def rotate(self) -> None:
        """Append to a new file from now on."""
        if self._open is not None:
            self._files.close(self._open.descriptor)
            self._open = None

    def drop(self, number: int) -> None:
        """Remove a file, durably: no later one can be gone while this one is back."""
        if self._open is not None and self._open.number == number:
            self.rotate()
        self._files.remove(self._path(number))
        self._files.sync_folder(self._folder)
        self.sizes.pop(number, None)

    def close(self) -> None:
        self.rotate()

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:08d}.{self._suffix}"

    def _begin(self) -> _Open:
        self._files.make_folder(self._folder)
        number, self._next = self._next, self._next + 1
        descriptor = self._files.create(self._path(number))
        try:
            self._files.sync_folder(self._folder)
        except OSError:
            self._files.close(descriptor)
            raise
        self.sizes[number] = 0
        self._open = _Open(number, descriptor)
        return self._open

    def _take_back(self, file: _Open) -> None:
        """Undo a half-written append, and leave the file: what the disk holds of it is not sure any more."""
        self.rotate()
        with suppress(OSError):
            self._files.truncate(self._path(file.number), file.length)
        if not file.length:
            with suppress(OSError):
                self.drop(file.number)

    def _scan(self, number: int, *, is_last: bool) -> Iterator[tuple[Spot, bytes]]:
        path = self._path(number)
        data = path.read_bytes()
        self.sizes[number] = len(data)
        offset = 0
        while offset < len(data):
            record = _record_at(data, offset)
            if record is not None:
                yield Spot(number, offset + _HEADER.size, len(record)), record
                offset += _HEADER.size + len(record)
                continue
            following = _next_record(data, offset + 1)
            if following is None and is_last and _is_torn(data, offset):
                self._cut(path, number, offset)
                return
            self.keep_aside(Spot(number, offset, 0), data[offset:following])
            if following is None:
                return
            offset = following

    def _cut(self, path: Path, number: int, length: int) -> None:
        """If it cannot be cut now, it is ignored all the same."""
        with suppress(OSError):
            self._files.truncate(path, length)
            self.sizes[number] = length

    def keep_aside(self, spot: Spot, piece: bytes) -> None:
        """Keep what could not be read, once: the name tells where it stood."""
        aside = self._folder / f"{spot.file:08d}-{spot.offset}.{self._suffix}.damaged"
        if aside.exists():
            return
        self.damaged += 1
        with suppress(OSError):
            descriptor = self._files.create(aside)
            try:
                self._files.append(descriptor, piece)
                self._files.sync(descriptor)
            finally:
                self._files.close(descriptor)
            self._files.sync_folder(self._folder)


def _record_at(data: bytes, offset: int) -> bytes | None:
    if len(data) - offset < _HEADER.size:
        return None
    magic, length, checksum = _HEADER.unpack_from(data, offset)
    record = data[offset + _HEADER.size : offset + _HEADER.size + length]
    if magic != _MAGIC or len(record) < length or zlib.crc32(record) != checksum:
        return None
    return record


def _next_record(data: bytes, offset: int) -> int | None:
    while (offset := data.find(_MAGIC, offset)) >= 0:
        if _record_at(data, offset) is not None:
            return offset
        offset += 1
    return None


def _is_torn(data: bytes, offset: int) -> bool:
    """Whether the rest looks like an append that never ended: cut short, or not filled by the file system."""
    rest = data[offset:]
    if len(rest) < _HEADER.size:
        return _MAGIC.startswith(rest[:4]) or not any(rest)
    magic, length, _ = _HEADER.unpack_from(rest)
    return not any(rest) or (magic == _MAGIC and len(rest) < _HEADER.size + length)
