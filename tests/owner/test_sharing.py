"""One owner per folder: others go through its server, and carry on when it is gone."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx2
import pytest

import rememberd
from rememberd.errors import FolderInUse
from tests.cli.processes import Server, environment, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Shell

LINE = json.dumps({"role": "user", "content": "我想买一台笔记本电脑", "user": "lin", "thread": "t"}).encode()

SECOND_CONNECTION = """
import asyncio, rememberd
async def main():
    async with rememberd.connect("memory") as memory:
        lin = memory.of(user="lin", thread="t")
        await lin.ingest("a light one, please")
        print([message.content for message in await lin.window()])
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A process that owns a folder and serves it."""
    with Server(tmp_path_factory.mktemp("owned")) as owner:
        yield owner


def test_everyone_works_through_a_serving_owner(owner: Server) -> None:
    assert run(owner.folder, "ingest", "-", "--json", stdin=LINE).document["recorded"] == 1
    assert run(owner.folder, "query", "电脑", "--user", "lin", "--json").document["raw_chunks"]
    second = subprocess.run(
        [sys.executable, "-c", SECOND_CONNECTION],
        cwd=owner.folder, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert second.stdout == "['我想买一台笔记本电脑', 'a light one, please']\n", second.stderr
    recorded = httpx2.get(f"{owner.url}/v1/history", params={"user": "lin"}).json()["items"]
    assert [message["seq"] for message in recorded] == [2, 1]


def test_a_second_server_is_told_where_the_first_is(owner: Server, shell: Shell) -> None:
    ended = shell("serve", "--data", str(owner.folder / "memory"), "--port", "0")
    assert ended.code == 6
    assert f"is served at {owner.url}" in ended.err


def test_only_the_owners_user_may_read_its_card(owner: Server) -> None:
    card = owner.folder / "memory" / "owner.json"
    assert card.stat().st_mode & 0o077 == 0
    assert len(json.loads(card.read_bytes())["token"]) >= 32


def test_a_killed_owner_is_followed_by_the_next_command(shell: Shell) -> None:
    with Server(shell.folder) as server:
        shell("ingest", shell.write("chat.jsonl", LINE.decode()))
        server.end(signal.SIGKILL)
    assert (shell.folder / "memory" / "owner.json").exists()
    assert run(shell.folder, "query", "电脑", "--user", "lin", "--json").document["raw_chunks"]
    with Server(shell.folder) as successor:
        assert successor.url != server.url
        assert shell.ask("stats")["messages"] == 1


@pytest.mark.slow
def test_an_owner_that_stopped_to_answer_is_named(shell: Shell) -> None:
    with Server(shell.folder) as server:
        server.process.send_signal(signal.SIGSTOP)
        ended = shell("stats", "--json")
        server.process.send_signal(signal.SIGCONT)
        assert ended.code == 6
        assert (
            f"is served at {server.url} by process {server.process.pid}; if that does not answer"
            in ended.problem["detail"]
        )
        assert shell("stats", "--json").code == 0


def test_a_handle_outlives_its_owner_and_takes_over(tmp_path: Path) -> None:
    async def outlive() -> None:
        async with rememberd.connect(tmp_path / "memory") as memory:
            lin = memory.of(user="lin", thread="t")
            await lin.ingest("before")
            item = await lin.add("Lin likes tea")
            server.end(signal.SIGKILL)
            assert (await lin.revise(item.id, text="Lin likes coffee")).revision == 2
            await lin.ingest("after")
            assert [message.content for message in await lin.window()] == ["before", "after"]
            assert (await memory.operate.stats()).messages == 2

    with Server(tmp_path) as server:
        asyncio.run(outlive())


def test_a_handle_finds_the_next_owner(tmp_path: Path) -> None:
    async def outlive() -> None:
        async with rememberd.connect(tmp_path / "memory") as memory:
            lin = memory.of(user="lin", thread="t")
            await lin.ingest("before")
            first.end(signal.SIGKILL)
            with Server(tmp_path) as second:
                together = await asyncio.gather(*(lin.ingest(f"after {i}") for i in range(20)))
                assert sorted(one.receipts[0].seq or 0 for one in together) == list(range(2, 22))
                second.end(signal.SIGKILL)
            with Server(tmp_path):
                assert (await memory.operate.stats()).messages == 21

    with Server(tmp_path) as first:
        asyncio.run(outlive())


def test_an_owner_that_does_not_serve_is_named_with_the_cure(shell: Shell) -> None:
    with rememberd.blocking.connect(shell.folder / "memory"):
        stats, doctor = shell("stats", "--json"), shell("doctor", "--json")
    assert stats.code == 6
    assert "rememberd serve" in stats.problem["detail"]
    assert doctor.code == 1
    assert "rememberd serve" in json.loads(doctor.out)["findings"][0]["cure"]
    assert shell("stats").code == 0


def test_two_connections_in_one_process_cannot_both_own(tmp_path: Path) -> None:
    with rememberd.blocking.connect(tmp_path), pytest.raises(FolderInUse):
        rememberd.blocking.connect(tmp_path)
