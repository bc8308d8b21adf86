"""A reader who tries everything: each block of a page, from top to bottom, in one folder and one namespace."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
from typing import TYPE_CHECKING, Any
from unittest import mock

import yaml

from rememberd.settings import load_settings

from . import answers
from .pages import ROOT, Block
from .shell import Shell, sessions_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PATH = re.compile(r"(?<![\w/.])[\w.-]*[\w-](?:/|\.py\b|\.yaml\b)(?:[\w./-]*\w/?)?")
_SETTINGS_FILE = "# config/memory.yaml"


class Reader:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._namespace: dict[str, Any] = {"__name__": "__main__"}
        self._runner = asyncio.Runner()
        self._printed = ""
        self._tries: dict[str, Callable[[str], None]] = {
            "python": self._python,
            "bash": self._bash,
            "console": self._console,
            "json": self._json,
            "yaml": self._yaml,
            "text": self._text,
        }

    def try_out(self, block: Block) -> None:
        """Execute a block. Raises ``AssertionError`` if it does not do what the page says, or cannot be executed."""
        assert block.language in self._tries, (
            f"nobody knows how to execute {block.language or 'a block without a language'}"
        )
        self._tries[block.language](block.text)

    def close(self) -> None:
        self._runner.close()
        self._shell.close()

    def _python(self, text: str) -> None:
        code = compile(self._shell.translate(text), "<page>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), mock.patch.dict(os.environ, self._shell.exports()):
            if code.co_flags & inspect.CO_COROUTINE:
                self._runner.run(_awaited(code, self._namespace))
            else:
                exec(code, self._namespace)
        self._printed = printed.getvalue()

    def _bash(self, text: str) -> None:
        self._printed = self._shell.run(text)

    def _console(self, text: str) -> None:
        for command, shown in sessions_of(text):
            self._bash(command)
            self._compare_lines(shown)

    def _json(self, text: str) -> None:
        shown = answers.parse(self._shell.translate(text))
        if self._printed.strip():
            found = answers.differences(shown, answers.parse_answer(self._printed))
            assert not found, "\n".join([*found, "", self._printed])
        self._printed = ""

    def _yaml(self, text: str) -> None:
        """Settings; a block that names the settings file is that file from now on."""
        assert isinstance(yaml.safe_load(text), dict), "a settings file is a table"
        file = self._shell.folder / "config" / "memory.yaml"
        kept = text.startswith(_SETTINGS_FILE)
        tried = file if kept else self._shell.folder / "tried.yaml"
        tried.parent.mkdir(exist_ok=True)
        tried.write_text(self._shell.translate(text), encoding="utf-8")
        load_settings(tried, environment={}, dotenv=None)

    def _text(self, text: str) -> None:
        """The output of the block before it, or a drawing, whose files and folders exist."""
        if self._printed.strip():
            self._compare_lines(text)
            self._printed = ""
            return
        drawn = _PATH.findall(text)
        assert drawn, "a text block is the output of the block before it, or a drawing that names files and folders"
        absent = [path for path in drawn if not any(_exists(folder, path) for folder in _PLACES)]
        assert not absent, f"the drawing names what does not exist: {', '.join(absent)}"

    def _compare_lines(self, shown: str) -> None:
        missing = answers.lines_missing(self._shell.translate(shown), self._printed)
        assert not missing, "\n".join(["not printed:", *missing, "", "printed:", self._printed])


_PLACES = (ROOT, ROOT / "src" / "rememberd", ROOT / "src", ROOT / "docs")


def _exists(folder: Path, path: str) -> bool:
    return any(folder.glob(path.rstrip("/"))) or any(folder.glob(f"*/{path.rstrip('/')}"))


async def _awaited(code: Any, namespace: dict[str, Any]) -> None:
    await eval(code, namespace)
