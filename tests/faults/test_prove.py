"""rememberd prove: a short proof is green on a folder and on PostgreSQL, and red where messages are lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from random import Random
from typing import TYPE_CHECKING

import asyncpg
import pytest

from rememberd.cli import prove as command
from rememberd.errors import StorageUnavailable
from rememberd.prove import Measure, parts, scratch_place
from rememberd.prove.isolation import isolation
from tests import postgres
from tests.cli.conftest import shell
from tests.cli.processes import environment
from tests.conftest import plain_settings

if TYPE_CHECKING:
    from pathlib import Path

    from rememberd.prove import Place, Row
    from tests.cli.conftest import Shell

__all__ = ["shell"]

SHORT = Measure(kills=1, cuts=15, replies=40)


def proof(where: str, *chosen: str) -> list[Row]:
    """Some parts of a short proof."""

    async def carry_out() -> list[Row]:
        async with scratch_place(where, plain_settings()) as scratch:
            there = parts(scratch, Random(1), SHORT)
            return [await there[name](lambda done, total: None) for name in chosen]

    return asyncio.run(carry_out())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """``rememberd prove`` does little of everything."""
    monkeypatch.setattr(command, "Measure", lambda: SHORT)


@pytest.mark.usefixtures("quick")
def test_a_proof_on_a_folder_is_green_and_leaves_nothing(shell: Shell) -> None:
    ended = shell("prove", "memory", "--only", "cuts", "--seed", "1", "--json")
    document = ended.document
    assert (document["passed"], document["seed"]) == (True, 1)
    assert [(row["fault"], row["tries"]) for row in document["faults"]] == [("power cut", SHORT.cuts)]
    assert list(shell.folder.iterdir()) == []


@pytest.mark.usefixtures("quick")
def test_a_proof_is_red_where_messages_are_lost_and_names_them(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The careless setting is never looked at; the messages are missing."""
    monkeypatch.setenv("REMEMBERD_DATABASE_SYNCHRONOUS", "OFF")
    ended = shell("prove", "--only", "cuts", "--json")
    assert ended.code == 1
    [row] = json.loads(ended.out)["faults"]
    assert len(row["lost"]) > 100
    told = shell("prove", "--only", "cuts")
    assert told.code == 1
    assert "power cut: lost: 01" in told.out


@pytest.mark.slow
@pytest.mark.integration
def test_a_proof_on_postgresql_is_green_and_leaves_nothing() -> None:
    rows = proof(postgres.server().fresh_database(), "kills", "isolation")
    assert [row.fault for row in rows if row.passed] == ["kill -9 at a random moment", "reach for another's memory"]
    assert asyncio.run(databases("rememberd_scratch_%")) == []


def test_a_running_server_is_not_killed_to_prove_something(shell: Shell) -> None:
    ended = shell("prove", "http://127.0.0.1:7077")
    assert ended.code == 2
    assert "name its folder" in ended.err


def test_a_part_that_does_not_exist_is_refused(shell: Shell) -> None:
    ended = shell("prove", "--only", "earthquakes")
    assert ended.code == 2
    assert "kills, crashes, cuts, refusals, replies, isolation" in ended.err


def test_a_database_server_that_cannot_be_used_is_named() -> None:
    with pytest.raises(StorageUnavailable, match="CREATE DATABASE"):
        proof("postgresql://nobody@127.0.0.1:1/none")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_proof_ends_its_servers_and_cleans_up(tmp_path: Path, how: signal.Signals) -> None:
    proving = subprocess.Popen(
        [sys.executable, "-m", "rememberd", "prove", str(tmp_path), "--json"],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not (cards := list(tmp_path.glob("*/memory/owner.json"))):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server = json.loads(cards[0].read_bytes())["pid"]
    proving.send_signal(how)
    proving.communicate(timeout=30)
    assert proving.returncode == 130
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


def test_nobody_gets_anything_of_anyone_else(place: Place) -> None:
    row = asyncio.run(isolation(place))
    assert row.leaked == ()
    assert row.tries > 100


async def databases(like: str) -> list[str]:
    connection = await asyncpg.connect(host=str(postgres.server().folder), user="postgres", database="postgres")
    try:
        found = await connection.fetch("SELECT datname FROM pg_database WHERE datname LIKE $1", like)
        return [row["datname"] for row in found]
    finally:
        await connection.close()
