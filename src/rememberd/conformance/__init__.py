"""The contract of every port as runnable checks: ``await run(place)`` tells whether a backend keeps its promises."""

from __future__ import annotations

from . import (
    api_keys,
    audit,
    backups,
    duplicates,
    feed,
    holdings,
    index,
    jobs,
    proposals,
    records,
    spool,
    storage,
    threads,
    vectors,
    windows,
)
from .check import Check
from .expect import BrokenPromiseError
from .place import AnyPlace, BackupsPlace, IndexPlace, Place, SpoolPlace, WindowsPlace
from .run import Report, Result, checks, ports, run

#: The modules that hold the checks; importing them enters the checks into the list.
SPECIFICATIONS = (
    storage, records, duplicates, threads, feed, holdings, vectors, jobs, audit, api_keys, windows, spool, index,
    proposals, backups,
)  # fmt: skip

__all__ = [
    "SPECIFICATIONS",
    "AnyPlace",
    "BackupsPlace",
    "BrokenPromiseError",
    "Check",
    "IndexPlace",
    "Place",
    "Report",
    "Result",
    "SpoolPlace",
    "WindowsPlace",
    "checks",
    "ports",
    "run",
]
