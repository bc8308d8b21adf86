"""What makes a function a command: shared options come in groups, and a coroutine is run."""

from __future__ import annotations

import asyncio
import functools
import inspect
import signal
from collections.abc import Callable, Coroutine
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

Answer = Coroutine[Any, Any, None] | None


def command(function: Callable[..., Answer]) -> Callable[..., None]:
    """A parameter whose type is a dataclass stands for the options that are its fields."""
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint) and isinstance(hint, type)}
    parameters = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name not in groups
    ]
    parameters += [parameter for group in groups.values() for parameter in _options(group)]

    @functools.wraps(function)
    def call(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        answer = function(**given)
        if answer is not None:
            with _interruptible():
                asyncio.run(answer)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends a command at once, even one that waits for standard input; what it opened is closed first."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
