"""Logs on stderr, for people or as JSON lines. An event carries ids, counts and codes; never content."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def logging_to_stderr(level: str, *, as_json: bool) -> Iterator[None]:
    """Send our events, and what the HTTP server warns of, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else PlainFormatter())
    loggers = {logging.getLogger("rememberd"): level.upper(), logging.getLogger("uvicorn.error"): "WARNING"}
    for logger, lowest in loggers.items():
        logger.setLevel(lowest)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


class PlainFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        return f"{_at(record):%H:%M:%S} {record.levelname.lower()} {record.getMessage()} {fields}".rstrip()


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        event = {"at": _at(record), "level": record.levelname.lower(), "event": record.getMessage(), **_fields(record)}
        return msgspec.json.encode(event, enc_hook=str).decode()


def _at(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """What the event carries; of an exception its name only, for its words may quote what a user said."""
    fields: dict[str, Any] = dict(getattr(record, "fields", {}))
    if record.exc_info and record.exc_info[0] is not None:
        fields["error"] = record.exc_info[0].__name__
    return fields
