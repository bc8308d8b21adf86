"""Counters, timers and log events anyone may use; how they leave the process is decided elsewhere.

Nothing here ever carries content: counters have no labels, and log events carry ids, counts and codes only.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_logger = logging.getLogger("rememberd")
_logger.addHandler(logging.NullHandler())

_lock = threading.Lock()
_counters: dict[str, float] = defaultdict(float)
_timers: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))


def count(name: str, amount: float = 1) -> None:
    """Add to a counter."""
    if amount:
        with _lock:
            _counters[name] += amount


def observe(name: str, seconds: float) -> None:
    """Add one duration to a timer."""
    with _lock:
        number, total = _timers[name]
        _timers[name] = (number + 1, total + seconds)


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Time a block."""
    began = time.perf_counter()
    try:
        yield
    finally:
        observe(name, time.perf_counter() - began)


def value(name: str) -> float:
    """What a counter stands at."""
    with _lock:
        return _counters.get(name, 0.0)


def render() -> str:
    """Everything in the text format of Prometheus."""
    with _lock:
        counters, timers = dict(_counters), dict(_timers)
    lines = []
    for name, amount in sorted(counters.items()):
        lines += [f"# TYPE rememberd_{name}_total counter", f"rememberd_{name}_total {amount:g}"]
    for name, (number, total) in sorted(timers.items()):
        lines += [
            f"# TYPE rememberd_{name}_seconds summary",
            f"rememberd_{name}_seconds_count {number}",
            f"rememberd_{name}_seconds_sum {total:.6f}",
        ]
    return "\n".join(lines) + "\n"


def log(event: str, *, level: int = logging.INFO, **fields: object) -> None:
    """Log an event with its fields; handlers find them as ``record.fields``."""
    if _logger.isEnabledFor(level):
        _logger.log(level, event, extra={"fields": fields})
