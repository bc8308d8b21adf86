"""Seeded defects: each is a change of one place in the code, and names the tests that have to notice it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDED = Path(__file__).parent / "seeded"


@dataclass(frozen=True, slots=True)
class Defect:
    """``new`` stands in ``file`` instead of ``old``; each of the tests in ``red`` has to fail then."""

    name: str
    defect: str
    file: str
    old: str
    new: str
    red: tuple[str, ...]

    def seeded_in(self, root: Path) -> str:
        """The file's text with the defect. Raises ``ValueError`` if its place is not there, or not the only one."""
        text = (root / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.file} has its place {text.count(self.old)} times, not once")
        return text.replace(self.old, self.new)


def defects() -> list[Defect]:
    return [_read(path) for path in sorted(SEEDED.glob("*.toml"))]


def _read(path: Path) -> Defect:
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    return Defect(
        name=path.stem,
        defect=written["defect"],
        file=written["file"],
        old=written["old"].removesuffix("\n"),
        new=written["new"].removesuffix("\n"),
        red=tuple(written["red"]),
    )
