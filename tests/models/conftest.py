"""The fetched models, or a skip that says how to fetch them; and jars small enough to make here."""

from __future__ import annotations

import hashlib
import socket
import zipfile
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from rememberd.providers.catalogue import Artefact, File
from rememberd.settings import load_settings
from rememberd.wiring.embedding import models

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def fetched() -> Path:
    """The models folder of whoever runs the tests, with every file in it."""
    chosen = models(load_settings(dotenv=None))
    if any(found.state != "ok" for found in chosen.look(thorough=False)):
        pytest.skip(f"{chosen.folder} is not complete; rememberd models pull")
    return chosen.folder


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever connects to anything, or asks for a name, fails the test."""

    def refuse(*arguments: Any, **more: Any) -> NoReturn:
        raise AssertionError(f"the network was touched: {arguments}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def make_jar(folder: Path, name: str = "small", **files: bytes) -> Artefact:
    """A jar in the folder, and the entry of the catalogue that pins it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0.jar"
    with zipfile.ZipFile(path, "w") as jar:
        for file, content in files.items():
            jar.writestr(f"inside/{file}", content)
        jar.writestr("META-INF/MANIFEST.MF", "nobody needs this")
    return Artefact(
        name=name,
        about="a test",
        licence="MIT",
        group="org.example",
        artefact=name,
        version="1.0",
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        files=tuple(
            File(f"inside/{file}", len(content), hashlib.sha256(content).hexdigest()) for file, content in files.items()
        ),
    )
