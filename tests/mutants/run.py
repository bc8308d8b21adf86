"""``make mutants``: seeds one defect after another into a copy of the code, and sees the tests that it names go red.

``python -m tests.mutants.run [NAME …]`` tries some of them only. Fails if a defect survives, or has lost its place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from .defects import ROOT, defects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .defects import Defect

_COPIED = ("src", "tests", "config", "docs", "pyproject.toml")
_PATIENCE = 600


def main(chosen: Sequence[str]) -> int:
    wanted = [defect for defect in defects() if not chosen or defect.name in chosen]
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="rememberd-mutants-") as folder:
        copy = _copied(Path(folder))
        red = _red(copy, {test for defect in wanted for test in defect.red})
        if red is None or red:
            _say(f"without any defect, these tests have to be green: {', '.join(sorted(red or ['all of them']))}")
            return 1
        for defect in wanted:
            began = time.monotonic()
            missed = _missed_by(defect, copy)
            survivors += bool(missed)
            told = f"SURVIVES {', '.join(missed)}" if missed else "red"
            _say(f"{defect.name:32} {time.monotonic() - began:4.0f} s  {told}  ({defect.defect})")
    _say(f"{len(wanted) - survivors} of {len(wanted)} seeded defects were noticed")
    return 1 if survivors or not wanted else 0


def _missed_by(defect: Defect, copy: Path) -> list[str]:
    """The tests that are named for a defect and do not notice it."""
    path = copy / defect.file
    sound = path.read_text(encoding="utf-8")
    path.write_text(defect.seeded_in(copy), encoding="utf-8")
    try:
        red = _red(copy, defect.red)
    finally:
        path.write_text(sound, encoding="utf-8")
    return ["(the tests could not be run)"] if red is None else [test for test in defect.red if test not in red]


def _copied(folder: Path) -> Path:
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def _red(copy: Path, tests: Iterable[str]) -> set[str] | None:
    """Which of these tests fail in the copy, in any of their cases; None if they could not be run."""
    report = copy / "report.xml"
    report.unlink(missing_ok=True)
    paths = os.pathsep.join([str(copy / "src"), str(copy)])
    wanted = sorted(tests)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *wanted],
        cwd=copy, env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True, check=False, timeout=_PATIENCE,
    )  # fmt: skip
    if not report.exists():
        return None
    ran = {_named(case): case for case in ElementTree.parse(report).iter("testcase")}
    if not ran:
        return None
    failed = {name for name, case in ran.items() if case.find("failure") is not None or case.find("error") is not None}
    return {test for test in wanted if any(name == test or name.startswith(f"{test}[") for name in failed)}


def _named(case: ElementTree.Element) -> str:
    """A case as pytest is asked for it."""
    return f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
