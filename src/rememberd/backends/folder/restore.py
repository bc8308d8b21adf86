"""Restoring a folder from a backup: a new folder is made beside it, and takes its place when it is whole."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rememberd.errors import Conflict, DamagedStore, NotFound, disk_failure
from rememberd.model import Progress

from .archive import check_seal, unpack
from .owner import Ownership
from .stepped import stepped

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from rememberd.ports.surroundings import Clock


@dataclass(frozen=True, slots=True)
class Restored:
    """``replaced`` is where the store that was there before is kept."""

    folder: Path
    replaced: Path | None = None


def restore(file: Path, folder: Path, clock: Clock, *, replace: bool) -> AsyncGenerator[Progress | Restored, None]:
    """Make the folder what it was when the backup was made; the last answer says where everything is.

    Raises ``Conflict`` if there is something in the folder and ``replace`` does not say that this is meant,
    ``FolderInUse`` if somebody has it open, ``DamagedStore`` if the backup is not as it was made; then nothing changed.
    """
    return stepped(_restore(file, folder.absolute(), clock, replace=replace))


def refuse_half_restored(folder: Path) -> None:
    """Raise ``DamagedStore`` for a folder that is not there because a restore of it was cut off."""
    fresh = _beside(folder.absolute())
    if not folder.exists() and fresh.exists():
        raise DamagedStore(f"restoring {folder} was interrupted; restore it again, or delete {fresh} to begin anew")


def _restore(file: Path, folder: Path, clock: Clock, *, replace: bool) -> Generator[Progress | Restored, None, None]:
    if not file.is_file():
        raise NotFound(f"there is no backup {file}")
    occupied = folder.is_dir() and any(folder.iterdir())
    if occupied and not replace:
        raise Conflict(f"{folder} is not empty; restore to another folder, or say that it is to be replaced (--force)")
    ownership = Ownership.take(folder) if occupied else None
    fresh = _beside(folder)
    try:
        with file.open("rb") as archive:
            for checked in check_seal(archive, file):
                yield Progress(checked.done, 2 * checked.total)
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir(parents=True, mode=0o700)
            size = file.stat().st_size
            for written in unpack(archive, file, fresh):
                yield Progress(size + size * written.done // max(1, written.total), 2 * size)
        _sync(fresh)
        replaced = _put_aside(folder, clock) if occupied else None
        fresh.rename(folder)
        _sync_folder(folder.parent)
    except OSError as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise disk_failure(error, f"{folder} cannot be restored") from error
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    finally:
        if ownership is not None:
            ownership.release()
    yield Restored(folder, replaced)


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.restoring")


def _put_aside(folder: Path, clock: Clock) -> Path:
    aside = folder.with_name(f"{folder.name}.replaced-{clock():%Y%m%dT%H%M%S%f}")
    folder.rename(aside)
    return aside


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        else:
            _sync_folder(path)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
