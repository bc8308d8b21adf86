"""Backups of a folder: storage and spool. Views are left out, since they can be made again."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rememberd import crash
from rememberd.errors import disk_failure
from rememberd.model import Progress
from rememberd.ports.backups import Piece
from rememberd.version import __version__

from .archive import FORMAT, ArchivedFile, Manifest, pack
from .stepped import stepped

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterator

    from rememberd.ports.surroundings import Clock

    Copy = Callable[[Path, Path], Iterator[Progress]]

DATABASE = "memory.db"
SPOOL = "spool"

_ROOM = ".copy-for-backup-"


class FolderBackups:
    """``copy`` copies the database. Made by the folder's owner, who clears away what a crash left of an earlier one."""

    def __init__(self, folder: Path, copy: Copy, clock: Clock) -> None:
        self._folder, self._copy, self._clock = folder, copy, clock
        for left in folder.glob(f"{_ROOM}*/"):
            shutil.rmtree(left, ignore_errors=True)

    def pieces(self) -> AsyncGenerator[Piece, None]:
        return stepped(self._pieces())

    def _pieces(self) -> Generator[Piece, None, None]:
        with self._room() as room:
            files = self._copy_spool(room)  # first: what is drained meanwhile is in the database by then
            for copied in self._copy(self._folder / DATABASE, room / DATABASE):
                yield Piece(b"", Progress(copied.done, 2 * copied.total))
            files[DATABASE] = room / DATABASE
            crash.point("backup.middle")
            size = sum(path.stat().st_size for path in files.values())
            done = size
            for data, packed in pack(files, self._manifest):
                done += packed
                yield Piece(data, Progress(done, 2 * size))

    def _copy_spool(self, room: Path) -> dict[str, Path]:
        copied = {}
        for source in sorted((self._folder / SPOOL).rglob("*")):
            name = source.relative_to(self._folder).as_posix()
            target = room / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # it was drained, and the database has it
                if source.is_file():
                    shutil.copyfile(source, target)
                    copied[name] = target
        return copied

    def _manifest(self, files: tuple[ArchivedFile, ...]) -> Manifest:
        return Manifest(format=FORMAT, rememberd=__version__, made_at=self._clock().isoformat(), files=files)

    @contextmanager
    def _room(self) -> Iterator[Path]:
        """A folder for the copies, which is gone afterwards."""
        try:
            with tempfile.TemporaryDirectory(prefix=_ROOM, dir=self._folder) as room:
                yield Path(room)
        except OSError as error:
            raise disk_failure(error, f"{self._folder} cannot be copied for a backup") from error
