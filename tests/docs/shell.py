"""The shell of a reader: commands run in a folder of their own, and a server that they start keeps running."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN_PORT = "7077"
_OF_THE_TEST_RUN = ("REMEMBERD_", "PYTHONDONTWRITEBYTECODE", "COV_")  # not of a reader
_PATIENCE = 60.0  # seconds: other tests may keep the machine busy

_SERVE = re.compile(
    r"^(?P<before>(?:\w+=\S+ )*)(?:make serve(?: ARGS=(?P<args>\"[^\"]*\"|'[^']*'))?|rememberd serve(?P<more>.*))$"
)
_MAKE = re.compile(r"^make (?:PYTHON=\S+ )?(?P<target>[a-z-]+)$")
_CLONE = re.compile(r"^(?:git clone \S+|cd rememberd)$")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@dataclass
class Shell:
    """``said`` replaces what pages show by what is true here: the port, the address of the database server."""

    folder: Path
    said: dict[str, str] = field(default_factory=dict)
    _server: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.port = free_port()
        self.said = {SHOWN_PORT: str(self.port), ".venv/bin/python": sys.executable, **self.said}
        self._state = self.folder.parent / f"{self.folder.name}.exports"
        self._log = self.folder.parent / f"{self.folder.name}.log"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(_OF_THE_TEST_RUN)},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "200",
            "PYTHONIOENCODING": "utf-8",
        }

    def translate(self, text: str) -> str:
        for shown, real in self.said.items():
            text = text.replace(shown, real)
        return text

    def run(self, text: str) -> str:
        """Run the lines of a block; answers what they printed. Raises ``AssertionError`` if one of them fails."""
        printed = ""
        plain: list[str] = []
        for line in text.splitlines():
            if self._is_special(line):
                printed += self._run_plain(plain)
                plain = []
                self._run_special(line)
            else:
                plain.append(line)
        return printed + self._run_plain(plain)

    def close(self) -> None:
        if self._server is not None:
            self._server.terminate()
            self._server.wait(_PATIENCE)
            self._server = None

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8") if self._log.exists() else ""

    def exports(self) -> dict[str, str]:
        """What the commands exported so far."""
        told = subprocess.run(
            ["bash", "-c", f"{self._with_exports()}env -0"], env=self._environment, capture_output=True, check=True
        )
        variables = (line.partition("=") for line in told.stdout.decode().split("\0") if line)
        return {name: value for name, _, value in variables}

    def _is_special(self, line: str) -> bool:
        return any(form.fullmatch(line) for form in (_SERVE, _MAKE, _CLONE))

    def _run_special(self, line: str) -> None:
        """What a page shows and a test does in its own way: set-up is done, and a server has to stay."""
        if serve := _SERVE.fullmatch(line):
            self._serve(serve["before"], (serve["args"] or "").strip("\"'") or serve["more"] or "")
        elif make := _MAKE.fullmatch(line):
            targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert make["target"] in targets, f"the Makefile has no target {make['target']}"

    def _serve(self, before: str, arguments: str) -> None:
        self.close()
        arguments = self.translate(arguments)
        port = "" if "--port" in arguments else f" --port {self.port}"
        with self._log.open("ab") as log:
            self._server = subprocess.Popen(
                ["bash", "-c", f"{self._with_exports()}exec env {before}rememberd serve {arguments}{port}"],
                cwd=self.folder,
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        patience = time.monotonic() + _PATIENCE
        while not self._is_ready():
            assert self._server.poll() is None, f"the server did not start:\n{self.log()}"
            assert time.monotonic() < patience, f"the server was not ready in time:\n{self.log()}"
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _run_plain(self, lines: list[str]) -> str:
        text = self.translate("\n".join(lines))
        if not text.strip():
            return ""
        script = f"set -euo pipefail\n{self._with_exports()}{text}\nexport -p > '{self._state}'\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            timeout=120,
            check=False,
        )
        printed, complained = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == 0, f"{text}\nended with {done.returncode}:\n{printed}{complained}{self.log()}"
        return printed

    def _with_exports(self) -> str:
        return f"[ ! -f '{self._state}' ] || source '{self._state}'\n"


def sessions_of(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a ``console`` block (after ``$``), each with the output shown for it."""
    command, shown = list[str](), list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield "\n".join(command), "\n".join(shown)
            command, shown = [line.removeprefix("$ ")], []
        elif command and not shown and (line.startswith("> ") or command[-1].endswith("\\")):
            command.append(line.removeprefix("> "))
        else:
            shown.append(line)
    assert command, "a console block has a line that begins with $"
    yield "\n".join(command), "\n".join(shown)
