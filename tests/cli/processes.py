"""rememberd as people run it: in processes of their own, which end with the test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

_PATIENCE = 60

#: Models take a while to load; commands are tried without them.
WITHOUT_MODELS = {"REMEMBERD_MODELS_EMBEDDER": "none", "REMEMBERD_TOKENS_ENCODING": "estimate"}


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def problem(self) -> Any:
        """The one JSON document on stderr."""
        assert self.out == ""
        return json.loads(self.err)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours, without what would change rememberd's settings, and without models."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REMEMBERD_")}
    return {**kept, **WITHOUT_MODELS, **(extra or {})}


def start(folder: Path, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
    """Begin a command in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "rememberd", *arguments],
        cwd=folder,
        env=environment(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(folder: Path, *arguments: str, stdin: bytes = b"", patience: float = _PATIENCE, **variables: str) -> Ended:
    """Run a command in a folder to its end."""
    process = start(folder, *arguments, **variables)
    out, err = process.communicate(stdin, timeout=patience)
    return Ended(process.returncode, out.decode(), err.decode())


class Server:
    """``rememberd serve`` on a free port of this machine; ``ready`` is what it said when it was."""

    def __init__(self, folder: Path, *arguments: str, **variables: str) -> None:
        self.folder = folder
        self.process = start(folder, "serve", "--port", "0", "--json", *arguments, **variables)
        self.ready = self._first_document()
        self.url: str = self.ready["url"]

    def _first_document(self) -> Any:
        assert self.process.stdout is not None
        said = b""
        for line in self.process.stdout:
            said += line
            if line.startswith(b"}"):
                return json.loads(said)
        raise AssertionError(self.process.communicate()[1].decode())

    def end(self, how: signal.Signals = signal.SIGTERM) -> Ended:
        """Send a signal, and see how it ended."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=_PATIENCE)
        return Ended(self.process.returncode, out.decode(), err.decode())

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.end()
