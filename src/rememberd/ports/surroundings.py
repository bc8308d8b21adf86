"""What is injected so that tests can decide it: time and ids."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

#: The current time, aware, in UTC.
Clock: TypeAlias = Callable[[], datetime]

#: A new id, ordered by the time it was made (uuid7).
Ids: TypeAlias = Callable[[], str]
