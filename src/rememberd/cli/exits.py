"""How a command ends when it fails: THE table of exit codes, and one line on stderr."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import msgspec
import typer

from rememberd.errors import (
    AccessDenied,
    Conflict,
    Fault,
    FolderInUse,
    InvalidRequest,
    NotAuthenticated,
    NotFound,
    RememberdError,
    SettingsError,
    Unavailable,
)

UNHEALTHY = 1

#: 0 is success; the class nearest to an error's own decides.
EXIT_CODES: dict[type[BaseException], int] = {
    RememberdError: UNHEALTHY,
    typer.TyperException: 2,
    SettingsError: 2,
    NotFound: 3,
    Conflict: 4,
    InvalidRequest: 5,
    Unavailable: 6,
    FolderInUse: 6,
    AccessDenied: 7,
    NotAuthenticated: 7,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A failed command, as ``--json`` tells it; ``code`` is the error's, as over HTTP."""

    code: str
    detail: str
    retryable: bool
    exit: int
    errors: tuple[Fault, ...] = ()


def exit_code(failure: BaseException) -> int:
    return next(EXIT_CODES[kind] for kind in type(failure).__mro__ if kind in EXIT_CODES)


def report(failure: RememberdError | typer.TyperException, *, as_json: bool) -> int:
    """Say on stderr what went wrong, and answer the exit code."""
    problem = _problem(failure)
    line = msgspec.json.encode(problem).decode() if as_json else f"rememberd: {' '.join(problem.detail.split())}"
    print(line, file=sys.stderr)
    return problem.exit


def _problem(failure: RememberdError | typer.TyperException) -> Problem:
    if isinstance(failure, RememberdError):
        faults = failure.faults if isinstance(failure, InvalidRequest) else ()
        return Problem(
            code=failure.code,
            detail=failure.detail,
            retryable=failure.retryable,
            exit=exit_code(failure),
            errors=faults,
        )
    return Problem(code="usage", detail=failure.format_message(), retryable=False, exit=exit_code(failure))
