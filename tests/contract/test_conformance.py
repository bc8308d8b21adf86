"""Every place keeps every promise of the ports it offers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rememberd.conformance import AnyPlace, Check, checks, ports

if TYPE_CHECKING:
    from .conftest import Drive


@pytest.mark.parametrize("check", checks(), ids=lambda check: f"{check.port}-{check.name}")
def test_promise(check: Check, place: AnyPlace, drive: Drive) -> None:
    if not check.runs_on(place):
        pytest.skip(f"the place does not offer {check.port}")
    drive(asyncio.wait_for(check.run(place), timeout=60))


def test_every_port_has_checks() -> None:
    assert set(ports()) == {
        "storage",
        "records",
        "feed",
        "holdings",
        "vectors",
        "jobs",
        "audit",
        "api_keys",
        "windows",
        "index",
    }


def test_no_two_checks_of_a_port_have_one_name() -> None:
    names = [(check.port, check.name) for check in checks()]
    assert len(names) == len(set(names))
