"""JSONL as messages: read line by line, checked, and given idempotency keys that a second reading gives again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from rememberd.errors import Fault, InvalidRequest
from rememberd.flow.accept import accept_message
from rememberd.flow.check import Faults, check_message, check_scope
from rememberd.model import NewMessage, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_LINES = 500
_MOST_BYTES = 2 * 1024 * 1024
_MOST_NAMED = 5
_SCOPE_FIELDS = ("tenant", "user", "agent", "thread")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BadLines(InvalidRequest):
    """Lines that are no messages; nothing of their batch is recorded."""

    code = "bad_lines"

    def __init__(self, faults: Sequence[Fault], first: int, last: int) -> None:
        super().__init__(faults)
        named = "; ".join(f"{fault.pointer} {fault.detail}" for fault in faults[:_MOST_NAMED])
        more = f"; and {len(faults) - _MOST_NAMED} more" if len(faults) > _MOST_NAMED else ""
        self.detail = f"{named}{more} (lines {first} to {last} were refused, those before are recorded)"


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    scope: Scope
    message: NewMessage


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines that are recorded or refused together; ``end`` is how many bytes were read up to here."""

    lines: tuple[Line, ...]
    end: int

    def by_scope(self) -> dict[Scope, list[Line]]:
        groups: dict[Scope, list[Line]] = {}
        for line in self.lines:
            groups.setdefault(line.scope, []).append(line)
        return groups


class Reader:
    """Reads messages for a scope, which a line may narrow or replace by its own fields.

    A line's idempotency key is the digest of the file up to and including it, with its number. So a file that was
    read halfway, or has grown, or was mended in the line that was refused, can be read again from the start.
    """

    def __init__(self, file: BinaryIO, scope: Scope) -> None:
        self._file = file
        self._scope = scope
        self._digest = hashlib.blake2b(msgspec.json.encode(scope), digest_size=16)
        self._beginning: str | None = None

    def batches(self) -> Iterator[Batch]:
        """Raises ``BadLines``, when everything before the bad batch was handed out."""
        lines: list[Line] = []
        faults: list[Fault] = []
        first, number, size, end = 1, 0, 0, 0
        for number, raw in enumerate(self._file, start=1):
            end += len(raw)
            size += len(raw)
            try:
                lines += self._read(number, raw)
            except InvalidRequest as refused:
                faults += [Fault(f"line {number}{fault.pointer}", fault.detail) for fault in refused.faults]
            if number - first + 1 >= _MOST_LINES or size >= _MOST_BYTES:
                yield _batch(lines, faults, first, number, end)
                lines, first, size = [], number + 1, 0
        if lines or faults:
            yield _batch(lines, faults, first, number, end)

    def _read(self, number: int, raw: bytes) -> list[Line]:
        text = raw.removeprefix(_BYTE_ORDER_MARK).strip() if number == 1 else raw.strip()
        if not text:
            return []
        self._digest.update(text + b"\n")
        digest = self._digest.copy().hexdigest()
        self._beginning = self._beginning or digest
        fields = _fields(text)
        bound = {name: fields.pop(name) for name in _SCOPE_FIELDS if fields.get(name) is not None}
        scope = replace(self._scope, **bound)
        message = accept_message({name: value for name, value in fields.items() if name not in _SCOPE_FIELDS})
        if message.idempotency_key is None:
            message = replace(message, idempotency_key=f"{digest}:{number}")
        faults = Faults()
        check_scope(faults, scope)
        check_message(faults, message, "")
        faults.raise_if_any()
        return [Line(number, scope if scope.thread else scope.within(self._thread(scope)), message)]

    def _thread(self, scope: Scope) -> str:
        """A made-up thread for the lines of a user that name none; the same at every reading."""
        made_of = f"{self._beginning}\0{scope.tenant}\0{scope.user or ''}"
        return hashlib.blake2b(made_of.encode(), digest_size=16).hexdigest()


def _fields(text: bytes) -> dict[str, Any]:
    try:
        fields = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest.because("", "is not JSON") from error
    if not isinstance(fields, dict):
        raise InvalidRequest.because("", "is not a JSON object")
    return fields


def _batch(lines: list[Line], faults: list[Fault], first: int, last: int, end: int) -> Batch:
    if faults:
        raise BadLines(faults, first, last)
    return Batch(tuple(lines), end)
