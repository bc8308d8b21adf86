"""Commands start fast, for they load only what they need, and speak as the terminal wishes."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .processes import run

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Shell

HEAVY = ("fastapi", "uvicorn", "sqlalchemy", "numpy", "httpx2", "rich")


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a command loads."""
    program = f"import sys; from rememberd.cli import main; main({arguments}); print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


@pytest.mark.alone
def test_help_takes_less_than_half_a_second_of_work(tmp_path: Path) -> None:
    def worked() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run(tmp_path, "--help").code == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(worked() for _ in range(3)) < 0.5


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    assert not set(HEAVY) & loaded_by(*arguments)


def test_commands_load_no_server(tmp_path: Path) -> None:
    assert not {"fastapi", "uvicorn"} & loaded_by("stats", "--data", str(tmp_path))


def test_no_color_is_respected(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    colour = re.compile("\x1b\\[[0-9;]*3[0-9]m")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert colour.search(shell("doctor").out)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour.search(shell("doctor").out)
