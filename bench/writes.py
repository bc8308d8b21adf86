"""Durable writes: single adds, 64 concurrent writers, and the same rows through raw apsw.

    python -m bench.writes [--seconds 3] [--rounds 3]

Raw apsw is measured twice: with all rows in one thread of one user, and spread over as many threads and users as the
writers have, which touches as many pages of the indexes as they do. Ratios are of the best rounds: the machine's noise
only ever slows things down.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import uvloop

import rememberd
from rememberd import Scope
from rememberd.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WRITERS = 64
WITHOUT_MODELS = load_settings(given={"models.embedder": "none"})
TEXT = "forty words or so make a message that somebody might really have said to an agent in the course of a day, " * 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    single = concurrent = blocking = raw = spread = 0.0
    for _ in range(options.rounds):
        with _folder() as folder:
            single = max(single, uvloop.run(_writing(folder, 1, options.seconds)))
        with _folder() as folder:
            concurrent = max(concurrent, uvloop.run(_writing(folder, WRITERS, options.seconds)))
        with _folder() as folder:
            blocking = max(blocking, _writing_blocking(folder, options.seconds))
            raw = max(raw, _writing_raw(folder, 1, options.seconds))
            spread = max(spread, _writing_raw(folder, WRITERS, options.seconds))
    print(f"| case | ingests/s | against single | against raw apsw | against raw apsw, {WRITERS} threads |")
    print("| --- | --: | --: | --: | --: |")
    for case, rate in (
        ("one writer", single),
        ("one writer, through rememberd.blocking", blocking),
        (f"{WRITERS} writers", concurrent),
        (f"raw apsw, the rows of {WRITERS} ingests a commit", raw),
        (f"raw apsw, the same in {WRITERS} threads", spread),
    ):
        print(f"| {case} | {rate:,.0f} | {rate / single:.2f} | {rate / raw:.2f} | {rate / spread:.2f} |")


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rememberd-bench-") as folder:
        yield Path(folder)


def _rate(count: int, began: float) -> float:
    return count / (time.perf_counter() - began)


async def _writing(folder: Path, writers: int, seconds: float) -> float:
    async with rememberd.connect(folder, settings=WITHOUT_MODELS) as memory:
        until = time.perf_counter() + seconds

        async def write(number: int) -> int:
            handle = memory.of(user=f"user-{number}", thread=f"thread-{number}")
            count = 0
            while time.perf_counter() < until:
                await handle.ingest(TEXT)
                count += 1
            return count

        began = time.perf_counter()
        return _rate(sum(await asyncio.gather(*map(write, range(writers)))), began)


def _writing_blocking(folder: Path, seconds: float) -> float:
    with rememberd.blocking.connect(folder, settings=WITHOUT_MODELS) as memory:
        began, count = time.perf_counter(), 0
        while time.perf_counter() < began + seconds:
            memory.ingest(Scope(user="user", thread="thread"), TEXT)
            count += 1
        return _rate(count, began)


def _writing_raw(folder: Path, threads: int, seconds: float) -> float:
    """Every row that an ingest writes, as prepared values, with nothing around it."""
    connection = apsw.Connection(str(folder / "memory.db"))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    connection.executemany(
        "INSERT INTO threads VALUES ('default', ?, ?, 0, 0, 0)",
        [(_raw(n, threads), _raw(n, threads)) for n in range(threads)],
    )
    statements = _rows_of_an_ingest(connection)
    last: int = connection.execute("SELECT max(position) FROM messages").get
    began, count = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        connection.execute("BEGIN IMMEDIATE")
        for _ in range(WRITERS):
            count += 1
            for sql, values in statements:
                connection.execute(sql, values(last + count, _raw(count % threads, threads)))
        connection.execute("COMMIT")
    rate = _rate(count, began)
    connection.close()
    return rate


def _raw(number: int, threads: int) -> str:
    return f"raw-{number}-of-{threads}"


def _rows_of_an_ingest(connection: apsw.Connection) -> list[tuple[str, Callable[[int, str], list[Any]]]]:
    """The statements of one ingest, with the values that make its row a new one of a thread and its user."""
    message, audit = (
        list(connection.execute(f"SELECT * FROM {table} LIMIT 1").get)
        for table in ("messages", "audit_logs WHERE action = 'ingest'")
    )

    def insert(table: str, row: list[Any]) -> str:
        return f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})"

    return [
        ("SELECT * FROM threads WHERE tenant = ? AND thread = ?", lambda position, thread: ["default", thread]),
        (
            insert("messages", message),
            lambda position, thread: [
                position,
                f"raw-{position:012d}",
                "default",
                thread,
                position,
                thread,
                *message[6:],
            ],
        ),
        (
            "UPDATE threads SET last_seq = ?, session_from = ?, last_used = ? WHERE tenant = ? AND thread = ?",
            lambda position, thread: [position, 0, position, "default", thread],
        ),
        (
            insert("audit_logs", audit),
            lambda position, thread: ["default", f"raw-{position:012d}", *audit[2:5], thread, thread, audit[7]],
        ),
    ]


if __name__ == "__main__":
    main()
