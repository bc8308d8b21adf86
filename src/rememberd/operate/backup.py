"""Keeping a backup: an archive written to a file, whole or not at all."""

from __future__ import annotations

import asyncio
import fcntl
import os
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from rememberd.errors import Conflict, InvalidRequest, Unavailable, disk_failure
from rememberd.ports.backups import Seal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator
    from io import FileIO
    from pathlib import Path

    from rememberd.model import Progress
    from rememberd.ports.backups import Piece


async def keep(pieces: AsyncGenerator[Piece, None], file: Path) -> AsyncIterator[Progress]:
    """Write an archive to a file of its own, durably. What fails leaves no file behind, and can be tried again.

    Raises ``Conflict`` if there is a file of that name: a backup is never written over another one.
    """
    _refuse_what_cannot_be(file)
    seal = Seal()
    with _partial(file) as partial:
        async with aclosing(pieces):
            async for piece in pieces:
                if piece.data:
                    seal.through(piece.data)
                    await asyncio.to_thread(_write, partial, piece.data)
                yield piece.progress
        if not seal.whole:
            raise Unavailable("the backup was cut off on its way; try again")
        await asyncio.to_thread(_make_durable, partial, file)


def _refuse_what_cannot_be(file: Path) -> None:
    if file.exists():
        raise Conflict(f"{file} is there already; a backup is never written over another file")
    if not file.parent.is_dir():
        raise InvalidRequest.because("/file", f"is in {file.parent}, which is no folder")


@contextmanager
def _partial(file: Path) -> Iterator[FileIO]:
    """What is written until it is whole. One that a crash left behind is written over."""
    path = _path_of_partial(file)
    try:
        partial = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb", buffering=0)
    except OSError as error:
        raise disk_failure(error, f"{path} cannot be written") from error
    with partial:
        try:
            fcntl.flock(partial, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Conflict(f"another backup is being written to {file}") from error
        try:
            partial.truncate()
            yield partial
        except OSError as error:
            raise disk_failure(error, f"{file} cannot be written") from error
        finally:
            path.unlink(missing_ok=True)


def _path_of_partial(file: Path) -> Path:
    return file.with_name(f"{file.name}.partial")


def _write(partial: FileIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[partial.write(left) :]


def _make_durable(partial: FileIO, file: Path) -> None:
    os.fsync(partial.fileno())
    _path_of_partial(file).rename(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
