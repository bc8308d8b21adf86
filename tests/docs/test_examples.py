"""Every program in ``examples`` runs, and does what it says."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from .pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TRIED = {"two_sessions.py", "shell_chat.py"}


def _run(folder: Path, name: str, *arguments: str, typed: str = "") -> str:
    command = [sys.executable, str(ROOT / "examples" / name), *arguments]
    done = subprocess.run(command, cwd=folder, input=typed.encode(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_every_example_is_tried() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == TRIED


def test_the_agent_of_two_sessions_remembers_the_first_one(tmp_path: Path) -> None:
    printed = _run(tmp_path, "two_sessions.py", str(tmp_path / "memory"))
    assert "agent: Nice to meet you." in printed
    assert "agent: I remember: [1]" in printed
    assert "我对酒精过敏" in printed


def test_the_chat_in_the_terminal_remembers_what_was_typed(tmp_path: Path) -> None:
    printed = _run(tmp_path, "shell_chat.py", "lin", typed="The red lamp is broken.\nWhich lamp?\n\n")
    assert printed.startswith("Nothing comes to mind.")
    assert "user: The red lamp is broken." in printed
