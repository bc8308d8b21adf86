"""The file of the embedded index: a log of blocks, that stays short however it came to be."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import apsw
import pytest

from rememberd.backends.folder import shelves
from rememberd.backends.folder.index import FolderIndex
from rememberd.conformance.samples import document, unit
from rememberd.model import Filters, Scope
from rememberd.ports.index import Document, Embedded, Gone, Search

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Change = Document | Embedded | Gone

IDS = [f"{number:03}" for number in range(150)]
VECTORS = [{}, {"en": unit(1, 0)}, {"en": unit(0, 1), "zh": unit(1, 1)}, {"zh": unit(1, 0) + unit(0, 1)}]


def changes(number: int) -> list[Change]:
    """Documents come and go, come again as others, and are embedded, some before they come."""
    chance = random.Random(11)
    made: list[Change] = []
    for _ in range(number):
        id_, vectors = chance.choice(IDS), chance.choice(VECTORS)
        new = document("acme", *chance.choices(["tea", "cup", "绿茶"], k=3), id=id_, vectors=vectors)
        all_of: list[Change] = [new, new, Embedded("acme", "message", id_, vectors), Gone("acme", "message", id_)]
        made.append(chance.choice(all_of))
    return made


def said(these: Iterable[Change]) -> list[Change]:
    """What is held in the end, at once."""
    held: dict[str, Document] = {}
    for change in these:
        if isinstance(change, Document):
            held[change.id] = change
        elif isinstance(change, Gone):
            held.pop(change.id, None)
        elif change.id in held:
            held[change.id] = document(
                "acme", *held[change.id].terms, id=change.id, at=held[change.id].at, vectors=change.vectors
            )
    return list(held.values())


async def digest_of(path: Path | None, these: list[Change], step: int, search_every: int = 10**9) -> str:
    index = FolderIndex(path)
    for start in range(0, len(these), step):
        await index.apply(these[start : start + step], start + step)
        if start % search_every == 0:
            await index.search(Search(scope=Scope("acme", "lin"), filters=Filters(), terms=("tea",)))
    digest = await index.digest()
    await index.close()
    return digest


@pytest.mark.parametrize("step", [1, 3, 40, 2000])
def test_however_changes_come_the_index_holds_the_same(tmp_path: Path, step: int) -> None:
    made = changes(2000)
    assert asyncio.run(digest_of(tmp_path / "index.db", made, step)) == asyncio.run(digest_of(None, said(made), 2000))


def blocks_and_size(path: Path) -> tuple[int, int]:
    blocks, size = apsw.Connection(str(path)).execute("SELECT count(*), sum(size) FROM blocks").get
    return blocks, size


def test_small_blocks_become_few(tmp_path: Path) -> None:
    asyncio.run(digest_of(tmp_path / "index.db", changes(2000), 1))
    assert blocks_and_size(tmp_path / "index.db")[0] < 60


def test_what_later_blocks_made_void_is_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = changes(2000)
    before = asyncio.run(digest_of(tmp_path / "wasteful.db", made, 300, search_every=1))
    monkeypatch.setattr(shelves, "_WASTE", 0)
    assert asyncio.run(digest_of(tmp_path / "tidy.db", made, 300, search_every=1)) == before
    assert blocks_and_size(tmp_path / "tidy.db")[1] < 0.6 * blocks_and_size(tmp_path / "wasteful.db")[1]
