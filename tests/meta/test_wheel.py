"""The built wheel works by itself, outside the repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Runs the command line of the package in the first folder of the path, wherever it is.
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from rememberd.cli import main; main()"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked into a folder of its own; dependencies are those of this environment."""
    dist, target = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(dist.glob("rememberd-*.whl"))) as wheel:
        wheel.extractall(target)
    return target


def _command(installed: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-c", RUN, str(installed), *arguments]


def test_it_holds_types_and_migrations_and_no_tests(installed: Path) -> None:
    assert (installed / "rememberd/py.typed").is_file()
    assert (installed / "rememberd/backends/sql/migrations/0001_first.sql").is_file()
    assert [path.name for path in installed.iterdir() if not path.name.startswith("rememberd")] == []


def test_the_demo_runs_from_it(installed: Path, tmp_path: Path) -> None:
    asked = "import sys; sys.path.insert(0, sys.argv[1]); import rememberd; print(rememberd.__file__)"
    where = subprocess.run([sys.executable, "-c", asked, str(installed)], cwd=tmp_path, check=True, capture_output=True)
    assert str(installed) in where.stdout.decode()
    demo = subprocess.run(_command(installed, "demo", "--json"), cwd=tmp_path, check=True, capture_output=True)
    assert json.loads(demo.stdout)
    assert list(tmp_path.iterdir()) == []


def test_it_serves(installed: Path, tmp_path: Path) -> None:
    command = _command(installed, "serve", "--data", str(tmp_path / "memory"), "--port", "0", "--json")
    server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, env={**os.environ, "NO_COLOR": "1"})
    try:
        assert server.stdout is not None
        said = b"".join(iter(server.stdout.readline, b"}\n")) + b"}"
        url = json.loads(said)["url"]
        with urllib.request.urlopen(f"{url}/readyz") as answer:
            assert json.load(answer)["status"] == "ok"
    finally:
        server.terminate()
        assert server.wait(20) == 0
        if server.stdout is not None:
            server.stdout.close()
