"""Named points at which a test may have the process die, as if it were killed at that very moment.

``REMEMBERD_CRASH=commit.middle`` dies at the first passage, ``commit.middle:7`` at the seventh. Without it a point does
nothing.
"""

from __future__ import annotations

import itertools
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE = "REMEMBERD_CRASH"

#: Every point, and the moment it stands for.
POINTS = {
    "open.owned": "the folder is owned, the store not open yet",
    "ingest.accepted": "messages were checked, nothing is written",
    "commit.middle": "a group is written, not committed",
    "commit.done": "a group is committed, nobody is answered",
    "embed.middle": "vectors are made, not stored",
    "index.middle": "documents are applied, the watermark is not",
    "close.middle": "the followers have stopped, the store is still open",
    "backup.middle": "the storage is copied, the archive is not sealed",
    "migration.middle": "a migration is carried out, not committed",
    "rebuild.middle": "a part of the new view is made, the old one is still in use",
    "spool.rotate": "a segment of the spool is full, the next one is not begun",
    "spool.replay": "a call of the spool was carried out, and is not marked as done",
    "spool.dead_letter": "a dead letter is written, the spool still holds the call",
}


def _go_on(name: str) -> None:
    """Nothing happens here."""


def _die_at(wanted: str) -> Callable[[str], None]:
    chosen, _, count = wanted.partition(":")
    passages = itertools.count(1)
    last = int(count or 1)

    def point(name: str) -> None:
        if name == chosen and next(passages) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    return point


point: Callable[[str], None] = _die_at(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else _go_on
