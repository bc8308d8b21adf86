"""Run the checks on a place, and tell of each promise whether it held."""

from __future__ import annotations

import asyncio
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .check import CHECKS, Check

if TYPE_CHECKING:
    from .place import AnyPlace

#: A check that takes longer than this many seconds has failed: something hangs.
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Result:
    """``failure`` says what went wrong and where; None if the promise held."""

    check: Check
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A result per check that ran, and the ports that the place does not offer."""

    results: tuple[Result, ...]
    not_offered: tuple[str, ...]

    @property
    def failures(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.failure is not None)

    @property
    def passed(self) -> bool:
        """Whether something ran, and every promise held."""
        return bool(self.results) and not self.failures

    def __str__(self) -> str:
        """The report for people: a line per promise, failures explained, a sum at the end."""
        lines = [_line(result) for result in self.results]
        lines += [f"{port}: not offered" for port in self.not_offered]
        kept = len(self.results) - len(self.failures)
        return "\n".join([*lines, f"{kept} of {len(self.results)} promises kept"])


def checks(port: str | None = None) -> tuple[Check, ...]:
    """The checks of a port; of all ports, when None."""
    return tuple(check for check in CHECKS if port is None or check.port == port)


def ports() -> tuple[str, ...]:
    """The ports that have checks."""
    return tuple(dict.fromkeys(check.port for check in CHECKS))


async def run(place: AnyPlace, port: str | None = None) -> Report:
    """Run the checks of a port (of all, when None), one after the other. Failures are reported, not raised."""
    wanted = checks(port)
    results = [await _result(check, place) for check in wanted if check.runs_on(place)]
    not_offered = dict.fromkeys(check.port for check in wanted if not check.runs_on(place))
    return Report(tuple(results), tuple(not_offered))


async def _result(check: Check, place: AnyPlace) -> Result:
    try:
        async with asyncio.timeout(PATIENCE):
            await check.run(place)
    except Exception as error:  # noqa: BLE001 - whatever a backend raises is the finding
        return Result(check, _explained(error))
    return Result(check)


def _explained(error: Exception) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "conformance" in frame.filename]
    told = [frame for frame in frames if not frame.filename.endswith(("expect.py", "check.py", "run.py", "trial.py"))]
    where = f" (line {told[-1].lineno}: {told[-1].line})" if told else ""
    return f"{type(error).__name__}: {error}{where}"


def _line(result: Result) -> str:
    line = f"{'kept  ' if result.failure is None else 'BROKEN'} {result.check.port}: {result.check.promise}"
    return line if result.failure is None else f"{line}\n       {result.failure}"
