"""Servers for being killed: one that cannot start says why."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rememberd.errors import StorageUnavailable
from rememberd.prove.served import Served

if TYPE_CHECKING:
    from rememberd.prove import Place


def test_a_server_that_cannot_start_says_why(place: Place) -> None:
    broken = replace(place, settings={**place.settings, "window.size": "many"})
    with pytest.raises(StorageUnavailable, match="must be a whole number"):
        asyncio.run(Served.start(broken))


def test_a_server_tells_how_much_of_its_start_it_waited_for_a_core(place: Place) -> None:
    async def start_and_end() -> Served:
        server = await Served.start(place)
        assert server is not None
        await server.end()
        return server

    server = asyncio.run(start_and_end())
    assert 0 <= server.queued < server.took
