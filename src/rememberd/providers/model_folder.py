"""The folder of fetched models: what is in it, and whether it is what was pinned. Fetching is in ``pull``."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rememberd.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .catalogue import Artefact, File

State = Literal["ok", "missing", "damaged"]

CURE = "rememberd models pull"


@dataclass(frozen=True, slots=True)
class FileState:
    """A file of an artefact, and what became of it."""

    artefact: str
    file: str
    size: int
    sha256: str
    state: State


def default_folder() -> Path:
    """The user's cache, as the platform has it."""
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        cache = str(Path.home() / "Library" / "Caches")
    else:
        cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "rememberd" / "models"


def look(folder: Path, artefacts: Iterable[Artefact], *, thorough: bool) -> list[FileState]:
    """The state of every file: by its size, or ``thorough``, by its hash."""
    state_of = hashed_state if thorough else sized_state
    return [
        FileState(artefact.name, file.name, file.size, file.sha256, state_of(folder, file))
        for artefact in artefacts
        for file in artefact.files
    ]


def sized_state(folder: Path, file: File) -> State:
    try:
        return "ok" if (folder / file.name).stat().st_size == file.size else "damaged"
    except OSError:
        return "missing"


def hashed_state(folder: Path, file: File) -> State:
    quick = sized_state(folder, file)
    if quick != "ok":
        return quick
    try:
        return "ok" if sha256_of(folder / file.name) == file.sha256 else "damaged"
    except OSError:
        return "damaged"


def pinned(folder: Path, file: File) -> Path:
    """Where the file is. Raises ``ModelUnavailable`` if it is not what was pinned."""
    state = hashed_state(folder, file)
    if state != "ok":
        raise ModelUnavailable(f"{file.name} is {state}; {CURE}")
    return folder / file.name


def sha256_of(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def stamp(path: Path) -> object:
    """Something that changes when the file does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
