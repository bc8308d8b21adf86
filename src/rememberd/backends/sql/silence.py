"""Whether a database server answers: while it is silent, callers are refused at once, and one in a while asks again."""

from __future__ import annotations

import time

from rememberd.errors import StorageUnavailable

_ASK_AGAIN = 1.0  # seconds until a server that let somebody wait in vain is asked again


class Silence:
    """A server is silent when it let somebody wait for most of the time-out, and answered nobody else meanwhile."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self.lasts = False
        self._ask_at = self._heard_at = 0.0

    def check(self) -> None:
        """Raise ``StorageUnavailable`` for whom it is not to be asked."""
        if self.lasts:
            now = time.monotonic()
            if now < self._ask_at:
                raise StorageUnavailable("the database server does not answer")
            self._ask_at = now + self._timeout + _ASK_AGAIN

    def waited_in_vain(self, began: float) -> None:
        now = time.monotonic()
        if now - began > self._timeout / 2 and self._heard_at < began:
            self.lasts, self._ask_at = True, now + _ASK_AGAIN

    def ended(self, *, answered: bool) -> None:
        """Somebody waits no longer, for an answer came, or an error at once: the next one may ask soon."""
        now = time.monotonic()
        if answered:
            self.lasts, self._heard_at = False, now
        self._ask_at = min(self._ask_at, now + _ASK_AGAIN)
