"""Fetching models: jars by their coordinates, checked against pinned hashes, and what is needed taken out of them.

Nothing else of rememberd fetches anything.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rememberd.errors import MissingExtra, ModelUnavailable, StorageUnavailable

from .catalogue import CATALOGUE, Artefact
from .model_folder import FileState, hashed_state, look, sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .catalogue import File

_TIMEOUT = 10
_ENOUGH = 1_000_000_000  # no file of a jar is larger


class Advance(Protocol):
    """Told while a jar comes in: how many bytes of how many are there."""

    def __call__(self, done: int, total: int | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Models:
    """The models folder, and where its content is fetched from: None is the default repository of Maven's world."""

    folder: Path
    source: str | None = None
    catalogue: Sequence[Artefact] = CATALOGUE

    def look(self, *, thorough: bool) -> list[FileState]:
        """The state of every file: by its size, or ``thorough``, by its hash."""
        return look(self.folder, self.catalogue, thorough=thorough)

    def pull(self, artefact: Artefact, advance: Advance) -> bool:
        """Fetch what is missing or damaged; answers whether anything was. Repeating it is harmless.

        Raises ``ModelUnavailable`` if the source does not have it, or has something else under its name.
        """
        wanted = [file for file in artefact.files if hashed_state(self.folder, file) != "ok"]
        if not wanted:
            return False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".pull-", dir=self.folder) as workshop:
                jar = _fetch(artefact, self.source, Path(workshop), advance)
                if sha256_of(jar) != artefact.sha256:
                    raise ModelUnavailable(f"{artefact.jar} is not the pinned one: its sha256 is another")
                for file in wanted:
                    _take_out(jar, file, Path(workshop), self.folder)
        except OSError as error:
            raise StorageUnavailable(f"the models cannot be put into {self.folder}: {error}") from error
        return True


def _fetch(artefact: Artefact, source: str | None, workshop: Path, advance: Advance) -> Path:
    if source is None or "://" in source:
        return _download(artefact, source, workshop, advance)
    folder = Path(source).expanduser()
    by_coordinates = folder.joinpath(*artefact.group.split("."), artefact.artefact, artefact.version, artefact.jar)
    for jar in (folder / artefact.jar, by_coordinates):
        if jar.is_file():
            return jar
    raise ModelUnavailable(f"{folder} has no {artefact.jar}")


def _download(artefact: Artefact, address: str | None, workshop: Path, advance: Advance) -> Path:
    try:
        maven, requests = importlib.import_module("jgo.maven"), importlib.import_module("requests")
    except ImportError as error:
        raise MissingExtra("models", "fetching models") from error

    @contextmanager
    def progress(filename: str, total: int) -> Iterator[Callable[[int], None]]:
        done = 0

        def more(amount: int) -> None:
            nonlocal done
            done += amount
            advance(done, total)

        yield more

    repositories = None if address is None else {"models.source": address.rstrip("/")}
    context = maven.MavenContext(
        resolver=maven.PythonResolver(progress_callback=progress),
        repo_cache=workshop,
        remote_repos=repositories,
        timeout=_TIMEOUT,
    )
    coordinates = f"{artefact.group}:{artefact.artefact}:{artefact.version}"
    try:
        component = context.project(artefact.group, artefact.artefact).at_version(artefact.version)
        return Path(component.artifact().resolve())
    except requests.RequestException as error:
        raise ModelUnavailable(f"{coordinates} cannot be fetched: {_briefly(error)}") from error
    except RuntimeError as error:  # the resolver's word for a status other than 200, and for a wrong checksum
        raise ModelUnavailable(f"{coordinates} cannot be fetched from the repository: {_briefly(error)}") from error


def _take_out(jar: Path, file: File, workshop: Path, folder: Path) -> None:
    """Unpack one file beside its place, and move it there only when it is whole and right."""
    try:
        with zipfile.ZipFile(jar) as archive, archive.open(file.inside) as packed:
            content = packed.read(_ENOUGH)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelUnavailable(f"{jar.name} does not hold {file.name}") from error
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise ModelUnavailable(f"{file.name} of {jar.name} is not the pinned one: its sha256 is another")
    unpacked = workshop / file.name
    with unpacked.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    unpacked.replace(folder / file.name)


def _briefly(error: Exception) -> str:
    """In one line, and without the password that an address may hold."""
    return re.sub(r"://[^/@\s]*@", "://", " ".join(str(error).split()))[:200]
