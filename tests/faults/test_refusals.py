"""A disk that refuses a write or a sync: a message waits in the spool, other callers are told, nothing is lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import apsw
import pytest

from rememberd import wiring
from rememberd.errors import StorageFull, StorageUnavailable
from rememberd.memory import Memory
from rememberd.prove.refusals import RefusingDisk, refusals
from tests.conftest import plain_settings

if TYPE_CHECKING:
    from pathlib import Path

    from rememberd.prove import Place

REFUSALS = 20


def test_nothing_acknowledged_is_lost_when_the_disk_refuses(place: Place) -> None:
    row = asyncio.run(refusals(place, REFUSALS))
    assert row.passed, row
    assert row.acknowledged > REFUSALS


@pytest.mark.parametrize(("refusal", "told"), [(apsw.FullError, StorageFull), (apsw.IOError, StorageUnavailable)])
def test_who_adds_a_memory_item_is_told_and_the_next_call_succeeds(
    tmp_path: Path, refusal: type[apsw.Error], told: type[Exception]
) -> None:
    async def refuse_one() -> None:
        disk = RefusingDisk(refusal)
        opened = await wiring.open_folder(tmp_path, plain_settings(), vfs=disk.name)
        async with Memory(opened.engine) as memory:
            lin = memory.of(user="lin")
            await lin.add("before")
            disk.refuse_next()
            with pytest.raises(told):
                await lin.add("refused")
            await lin.add("after")
            assert [item.text for item in (await lin.list()).items] == ["after", "before"]
        disk.unregister()

    asyncio.run(refuse_one())
