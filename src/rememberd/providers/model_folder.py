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
        return "ok" if _sha256((folder / file.name).read_bytes()) == file.sha256 else "damaged"
    except OSError:
        return "damaged"


def read_pinned(folder: Path, file: File) -> bytes:
    """The file's content. Raises ``ModelUnavailable`` if it is not what was pinned."""
    try:
        content = (folder / file.name).read_bytes()
    except OSError as error:
        raise ModelUnavailable(f"{file.name} cannot be read ({error.strerror}); {CURE}") from error
    if _sha256(content) != file.sha256:
        raise ModelUnavailable(f"{file.name} is damaged, or another file of that name; {CURE}")
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
