"""One server, spoken to over HTTP: what is sent, what is tried again, and how failures come back."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import msgspec

from rememberd.errors import InvalidRequest, ServerUnreachable
from rememberd.version import __version__

from .failures import error_of
from .wire import encode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

_ATTEMPTS = 3
_FIRST_PAUSE = 0.1
_TIMEOUT = httpx2.Timeout(60.0, connect=5.0)
_TRY_AGAIN = frozenset((502, 503, 504))


class Connection:
    """Every call either answers the body of a success or raises one of ``rememberd.errors``."""

    def __init__(self, url: str, api_key: str | None, transport: httpx2.AsyncBaseTransport | None) -> None:
        headers = {"User-Agent": f"rememberd/{__version__}", "Accept": "application/json"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        self._url = url
        self._http = httpx2.AsyncClient(base_url=url, headers=headers, timeout=_TIMEOUT, transport=transport)

    async def get(
        self, path: str, parameters: Sequence[tuple[str, str]] = (), *, timeout: float | None = None
    ) -> bytes:
        return await self._call("GET", path, parameters=parameters, repeatable=True, timeout=timeout)

    async def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        repeatable: bool = False,
        timeout: float | None = None,
    ) -> bytes:
        """``repeatable``: to ask twice does no harm; so it is with an idempotency key."""
        headers = {} if idempotency_key is None else {b"Idempotency-Key": _utf8(idempotency_key, "/idempotency_key")}
        return await self._call(
            "POST",
            path,
            body=body,
            headers=headers,
            repeatable=repeatable or idempotency_key is not None,
            timeout=timeout,
        )

    async def patch(
        self, path: str, parameters: Sequence[tuple[str, str]], body: Mapping[str, Any], expected: int | None
    ) -> bytes:
        return await self._call("PATCH", path, parameters=parameters, body=body, headers=_if_match(expected))

    async def delete(
        self,
        path: str,
        parameters: Sequence[tuple[str, str]] = (),
        expected: int | None = None,
        *,
        timeout: float | None = None,
    ) -> bytes:
        return await self._call("DELETE", path, parameters=parameters, headers=_if_match(expected), timeout=timeout)

    @asynccontextmanager
    async def lines(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of a long answer, as they come."""
        async with self._long(path, body) as response:
            yield response.aiter_lines()

    @asynccontextmanager
    async def chunks(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of a long answer, as they come."""
        async with self._long(path, body) as response:
            yield response.aiter_bytes()

    @asynccontextmanager
    async def _long(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[httpx2.Response]:
        request = self._http.build_request(
            "POST", path, content=encode(body), headers=_JSON, timeout=httpx2.Timeout(None, connect=5.0)
        )
        try:
            response = await self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    raise error_of(response.status_code, await response.aread())
                yield response
            finally:
                await response.aclose()
        except httpx2.TransportError as failure:
            raise self._unreachable(failure) from failure

    async def close(self) -> None:
        await self._http.aclose()

    async def _call(
        self,
        method: str,
        path: str,
        *,
        parameters: Sequence[tuple[str, str]] = (),
        body: Mapping[str, Any] | None = None,
        headers: Mapping[bytes, bytes] | None = None,
        repeatable: bool = False,
        timeout: float | None = None,
    ) -> bytes:
        request = self._http.build_request(
            method,
            path,
            params=list(parameters),
            content=None if body is None else _encoded(body),
            headers={**(headers or {}), **({} if body is None else _JSON)},
            timeout=_TIMEOUT if timeout is None else httpx2.Timeout(timeout, connect=5.0),
        )
        for left in reversed(range(_ATTEMPTS)):
            try:
                response = await self._http.send(request)
            except httpx2.TransportError as failure:
                never_sent = isinstance(failure, httpx2.ConnectError | httpx2.ConnectTimeout)
                if not left or not (repeatable or never_sent):
                    raise self._unreachable(failure) from failure
            else:
                if response.is_success:
                    return response.content
                if not left or not repeatable or response.status_code not in _TRY_AGAIN:
                    raise error_of(response.status_code, response.content)
            await asyncio.sleep(_pause(_ATTEMPTS - left))
        raise AssertionError("unreachable")

    def _unreachable(self, failure: httpx2.TransportError) -> ServerUnreachable:
        return ServerUnreachable(f"{self._url} does not answer ({type(failure).__name__}).")


_JSON = {b"Content-Type": b"application/json"}


def _if_match(expected: int | None) -> dict[bytes, bytes]:
    return {} if expected is None else {b"If-Match": b'"%d"' % expected}


def _pause(attempt: int) -> float:
    """Longer each time, and never the same for two callers."""
    return _FIRST_PAUSE * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311 - no secret


def _utf8(text: str, pointer: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidRequest.because(pointer, "contains a lone surrogate, which is not Unicode text") from None


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return encode(body)
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as failure:
        raise InvalidRequest.because("", f"cannot be sent as JSON: {failure}") from failure
