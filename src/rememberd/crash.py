"""Named points at which a test may let the process die, to see that nothing is lost there. Absent unless asked for."""

from __future__ import annotations

import itertools
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _never(name: str) -> None:
    """Nobody asked."""


def _at(asked: str) -> Callable[[str], None]:
    """Die at the point that is asked for: ``name``, or ``name:count`` for its count-th passage."""
    wanted, _, count = asked.partition(":")
    passages = itertools.count(1)

    def point(name: str) -> None:
        if name == wanted and next(passages) == int(count or 1):
            os.kill(os.getpid(), signal.SIGKILL)

    return point


_asked = os.environ.get("REMEMBERD_CRASH")

#: Pass a named point.
point: Callable[[str], None] = _at(_asked) if _asked else _never
