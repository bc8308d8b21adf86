"""How a check says what it expects. Not ``assert``: a promise is checked under ``python -O`` too."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from rememberd.errors import RememberdError

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


class BrokenPromiseError(AssertionError):
    """The backend did something else than the port promises."""


def equal(actual: object, expected: object) -> None:
    if actual != expected:
        raise BrokenPromiseError(f"expected {expected!r}, got {actual!r}")


def true(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BrokenPromiseError(otherwise)


def present(value: T | None) -> T:
    if value is None:
        raise BrokenPromiseError("expected a value, got None")
    return value


@contextmanager
def raising(error: type[RememberdError]) -> Iterator[None]:
    """The block raises exactly this error."""
    try:
        yield
    except RememberdError as raised:
        if type(raised) is not error:
            raise BrokenPromiseError(f"expected {error.__name__}, got {type(raised).__name__}: {raised}") from raised
    else:
        raise BrokenPromiseError(f"expected {error.__name__}, but nothing was raised")
