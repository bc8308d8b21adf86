"""Nothing in the repository tells where it was made: no paths of a machine, no addresses of package registries."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_FOLDERS = ("root", "tmp", "work", "home", "Users", "var/folders")
_HOSTS = ("pypi", "pythonhosted", "artifactory", "devpi", "npmjs", "ghcr", "docker", "quay", "tuna.tsinghua", "aliyun")
_ENDINGS = "org|com|io|cn|net|internal|local"
FORBIDDEN = re.compile(
    "|".join(
        [
            *(rf"(?<![\w.\-/]){re.escape('/' + folder)}/" for folder in _FOLDERS),
            rf"\b(?:[\w-]+\.)*(?:{'|'.join(map(re.escape, _HOSTS))})(?:\.[\w-]+)*\.(?:{_ENDINGS})\b",
            r"\bregistry\.[\w-]+\.\w+",
            r"--(?:extra-)?index-url[ =]\S+:",
        ]
    )
)


def _files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="this is no clone")
def test_no_tracked_text_names_a_machine_or_a_registry() -> None:
    found = []
    for file in _files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if told := FORBIDDEN.search(line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {told[0]}")
    assert not found


@pytest.mark.parametrize("folder", _FOLDERS)
def test_a_path_of_a_machine_would_be_noticed(folder: str) -> None:
    assert FORBIDDEN.search(f"see /{folder}/somewhere")


@pytest.mark.parametrize(
    "host", ["files.{}.org".format("pythonhosted"), "{}.org".format("pypi"), "{}.io".format("ghcr")]
)
def test_a_registry_would_be_noticed(host: str) -> None:
    assert FORBIDDEN.search(f"https://{host}/simple")


@pytest.mark.parametrize("text", ["docs/work/follow.py", "src/rememberd/work/follow.py", "https://example.org/home/x"])
def test_paths_within_the_repository_are_not_mistaken(text: str) -> None:
    assert not FORBIDDEN.search(text)
