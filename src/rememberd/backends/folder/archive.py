"""The form of an archive: a zip file with a manifest, which ends with its seal.

Any unzip opens it. The seal is the zip's comment, so it stands at the very end; what it does not fit was damaged.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from rememberd.errors import DamagedStore
from rememberd.model import Progress
from rememberd.ports.backups import UNSEALED, Seal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FORMAT = 1

_MANIFEST = "manifest.json"
_CHUNK = 1 << 18
_FAST = 1  # most of what compressing saves, at a fraction of its time
_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFile:
    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """``rememberd`` is the version that made the archive."""

    format: int
    rememberd: str
    made_at: str
    files: tuple[ArchivedFile, ...]


def pack(
    files: dict[str, Path], manifest: Callable[[tuple[ArchivedFile, ...]], Manifest]
) -> Iterator[tuple[bytes, int]]:
    """An archive of these files, in pieces, each with the number of bytes it was packed from."""
    sink = _Sink()
    packed: list[ArchivedFile] = []
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=_FAST) as archive:
        archive.comment = UNSEALED
        for name, path in files.items():
            digest, size = hashlib.sha256(), 0
            with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as entry:
                while chunk := source.read(_CHUNK):
                    digest.update(chunk)
                    size += len(chunk)
                    entry.write(chunk)
                    yield sink.taken(), len(chunk)
            packed.append(ArchivedFile(name=name, size=size, sha256=digest.hexdigest()))
        archive.writestr(zipfile.ZipInfo(_MANIFEST), msgspec.json.format(msgspec.json.encode(manifest(tuple(packed)))))
    yield sink.taken() + sink.seal(), 0


class _Sink(io.RawIOBase):
    """What a zip is written to: nobody can go back in it, and its last bytes become the seal."""

    def __init__(self) -> None:
        self._seal = Seal()
        self._ready = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        chunk = bytes(data)  # type: ignore[call-overload]
        self._ready += self._seal.through(chunk)
        return len(chunk)

    def taken(self) -> bytes:
        """The bytes that became ready since the last time."""
        ready, self._ready = bytes(self._ready), bytearray()
        return ready

    def seal(self) -> bytes:
        return self._seal.made


def check_seal(file: BinaryIO, path: Path) -> Iterator[Progress]:
    """Read an archive once. Raises ``DamagedStore`` if a single bit of it is not as it was made."""
    seal, size, done = Seal(), file.seek(0, io.SEEK_END), 0
    file.seek(0)
    while chunk := file.read(_CHUNK):
        seal.through(chunk)
        done += len(chunk)
        yield Progress(done, size)
    if not seal.whole:
        raise DamagedStore(f"{path} is damaged, cut off, or no backup of rememberd; take another one")


def unpack(file: BinaryIO, path: Path, folder: Path) -> Iterator[Progress]:
    """Write the files of an archive, whose seal was checked, into an empty folder, each compared with the manifest."""
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = msgspec.json.decode(archive.read(_MANIFEST), type=Manifest)
            if manifest.format > FORMAT:
                raise DamagedStore(f"{path} was made by a newer rememberd ({manifest.rememberd}); update this one")
            total, done = sum(each.size for each in manifest.files), 0
            for each in manifest.files:
                if not _NAME.fullmatch(each.name):
                    raise DamagedStore(f"{path} names a file outside the folder: {each.name!r}")
                for size in _extract(archive, each, folder / each.name, path):
                    done += size
                    yield Progress(done, total)
    except (zipfile.BadZipFile, KeyError, msgspec.MsgspecError) as error:
        raise DamagedStore(f"{path} is no backup of rememberd") from error


def _extract(archive: zipfile.ZipFile, wanted: ArchivedFile, target: Path, path: Path) -> Iterator[int]:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest = hashlib.sha256()
    with archive.open(wanted.name) as source, target.open("xb") as file:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            file.write(chunk)
            yield len(chunk)
    if digest.hexdigest() != wanted.sha256:
        raise DamagedStore(f"{wanted.name} in {path} is not what was stored")
