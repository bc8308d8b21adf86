"""Pages of the documentation, taken apart into their fenced blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, and the line it begins on."""

    language: str
    text: str
    line: int


def pages() -> list[Path]:
    """Every page whose blocks are executed."""
    at_the_root = [ROOT / name for name in ("README.md", "README.zh-CN.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return [*at_the_root, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, in order. Raises ``ValueError`` for a fence that is never closed."""
    blocks: list[Block] = []
    opened: re.Match[str] | None = None
    begun, lines = 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None:
            if fence:
                opened, begun, lines = fence, number, []
        elif fence and fence["fence"].startswith(opened["fence"]) and not fence["info"].strip():
            blocks.append(Block(opened["info"].strip(), "\n".join(lines) + "\n", begun))
            opened = None
        else:
            lines.append(line.removeprefix(opened["indent"]))
    if opened is not None:
        raise ValueError(f"the fence of line {begun} is never closed")
    return blocks
