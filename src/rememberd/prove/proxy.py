"""A proxy that drops replies: the server has done what it was asked, and the caller never hears of it."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable
    from types import TracebackType

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_KEY = re.compile(rb"\r\nidempotency-key: *([^\r\n]+)", re.IGNORECASE)
_LONGEST_HEAD = 65_536


class DroppingProxy:
    """Stands before the server at ``url``. ``drops`` says of an idempotency key and a count whether that reply is lost.

    A dropped reply was read to its end, so what it answers is done; then the caller's connection is closed.
    """

    def __init__(self, url: str, drops: Callable[[str, int], bool]) -> None:
        server = urlsplit(url)
        self._host, self._port = server.hostname, server.port
        self._drops = drops
        self._counts: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.dropped = 0
        self.url = ""

    async def __aenter__(self) -> DroppingProxy:
        self._listening = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_LONGEST_HEAD)
        self.url = f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, caller: StreamReader, to_caller: StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._pass_on(caller, to_caller))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, caller: StreamReader, to_caller: StreamWriter) -> None:
        """One request after another, until a side hangs up or a reply is dropped."""
        server, to_server = await asyncio.open_connection(self._host, self._port, limit=_LONGEST_HEAD)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    request = await _message(caller)
                    to_server.write(request)
                    reply = await _message(server)
                    if self._is_dropped(request):
                        return
                    to_caller.write(reply)
                    await to_caller.drain()
        finally:
            to_caller.close()
            to_server.close()

    def _is_dropped(self, request: bytes) -> bool:
        found = _KEY.search(request)
        if found is None:
            return False
        key = found[1].decode()
        self._counts[key] = self._counts.get(key, 0) + 1
        dropped = self._drops(key, self._counts[key])
        self.dropped += dropped
        return dropped


async def _message(reader: StreamReader) -> bytes:
    """A request or a reply, head and body. Both sides of rememberd say how long their bodies are."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")
