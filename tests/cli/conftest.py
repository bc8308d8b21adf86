"""Commands run in this process, on a folder that only the test knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from rememberd.cli import main

from .processes import WITHOUT_MODELS, Ended

if TYPE_CHECKING:
    from pathlib import Path


class Shell:
    """A terminal in an empty folder. ``shell("query", "电脑")`` runs a command; ``shell.ask`` wants its JSON."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._captured = captured

    def __call__(self, *arguments: str) -> Ended:
        code = main(arguments)
        printed = self._captured.readouterr()
        return Ended(code, printed.out, printed.err)

    def ask(self, *arguments: str) -> Any:
        return self(*arguments, "--json").document

    def write(self, name: str, *lines: str) -> str:
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(path)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    for name in os.environ:
        if name.startswith("REMEMBERD_"):
            monkeypatch.delenv(name)
    for name, value in WITHOUT_MODELS.items():
        monkeypatch.setenv(name, value)
    return Shell(tmp_path, capsys)
