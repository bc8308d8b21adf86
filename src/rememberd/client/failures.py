"""From a problem back to the error it was at home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rememberd.errors import InvalidRequest, RememberdError, Unavailable

from .wire import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

_decode = msgspec.json.Decoder(Problem).decode


def error_of(status: int, body: bytes) -> RememberdError:
    """The error that a refused call raises: the class of its code, with every fault."""
    try:
        problem = _decode(body)
    except msgspec.MsgspecError:
        kind = Unavailable if status in (502, 503, 504) else RememberdError
        return kind(f"The server answered {status}, and not in rememberd's words. Is it rememberd?")
    return error_of_problem(problem)


def error_of_problem(problem: Problem) -> RememberdError:
    kind = _KINDS.get(problem.code, Unavailable if problem.retryable else RememberdError)
    if issubclass(kind, InvalidRequest):
        return kind(problem.errors)
    error = kind.__new__(kind)
    RememberdError.__init__(error, problem.detail)
    return error


def _kinds(kind: type[RememberdError]) -> Iterator[type[RememberdError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


_KINDS = {kind.code: kind for kind in _kinds(RememberdError)}
