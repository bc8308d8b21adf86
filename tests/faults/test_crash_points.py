"""Crash points: each is in the code once, does nothing by itself, and kills when it is asked to."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import rememberd
from rememberd import crash
from rememberd.prove.scenarios import SCENARIOS
from tests.cli.processes import environment

SOURCE = Path(rememberd.__file__).parent

PASSING = "from rememberd import crash; print('before', flush=True); [crash.point('commit.middle') for _ in range(3)]"


def pass_by(**variables: str) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-c", PASSING], env=environment(variables), capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout


def test_every_point_stands_in_the_code_exactly_once() -> None:
    written = [
        name
        for path in SOURCE.rglob("*.py")
        for name in re.findall(r'crash\.point\("([^"]+)"\)', path.read_text(encoding="utf-8"))
    ]
    assert sorted(written) == sorted(crash.POINTS)


def test_every_point_has_a_scenario_that_reaches_it() -> None:
    assert list(SCENARIOS) == list(crash.POINTS)


def test_a_point_does_nothing_by_itself() -> None:
    assert pass_by() == (0, "before\n")
    assert pass_by(REMEMBERD_CRASH="commit.done") == (0, "before\n")


def test_a_process_dies_at_the_passage_that_was_asked_for() -> None:
    killed = (-signal.SIGKILL, "before\n")
    assert pass_by(REMEMBERD_CRASH="commit.middle") == killed
    assert pass_by(REMEMBERD_CRASH="commit.middle:3") == killed
    assert pass_by(REMEMBERD_CRASH="commit.middle:4") == (0, "before\n")
