"""One time-out for a whole call: whatever it asks of a server, it may wait until then and no longer.

A call asks the storage several questions, one after the other. If each had the whole time-out, the caller would wait
for the sum of them.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

P = ParamSpec("P")
R = TypeVar("R")

#: When the call began that is being carried out.
_began: ContextVar[float | None] = ContextVar("began", default=None)


def one_call(verb: Callable[P, Awaitable[R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    """Everything that the verb waits for has one time-out together; within a call it is a part of that call."""

    @wraps(verb)
    async def called(*args: P.args, **options: P.kwargs) -> R:
        if _began.get() is not None:
            return await verb(*args, **options)
        token = _began.set(time.monotonic())
        try:
            return await verb(*args, **options)
        finally:
            _began.reset(token)

    return called


@contextmanager
def waiting_for_the_caller() -> Iterator[None]:
    """The time that callers take themselves is not taken from what they wait for."""
    stopped = time.monotonic()
    yield
    began = _began.get()
    if began is not None:
        _began.set(began + time.monotonic() - stopped)


def left(timeout: float) -> float:
    """How many seconds of a time-out the call has left; all of them outside of calls."""
    began = _began.get()
    return timeout if began is None else max(0.0, began + timeout - time.monotonic())
