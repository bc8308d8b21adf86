"""Every place keeps every promise of the ports it offers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rememberd.conformance import AnyPlace, Check, checks, ports

from .places import BACKUPS_PLACES, INDEX_PLACES

if TYPE_CHECKING:
    from .conftest import Drive


_BESIDE = ("index", "spool")
BESIDE_CHECKS = tuple(check for check in checks() if check.port in _BESIDE)
BACKUPS_CHECKS = checks("backups")
OTHER_CHECKS = tuple(check for check in checks() if check.port not in (*_BESIDE, "backups"))


def _named(check: Check) -> str:
    return f"{check.port}-{check.name}"


@pytest.mark.parametrize("check", OTHER_CHECKS, ids=_named)
def test_promise(check: Check, place: AnyPlace, drive: Drive) -> None:
    drive(asyncio.wait_for(check.run(place), timeout=60))


@pytest.mark.parametrize("place", INDEX_PLACES, indirect=True)
@pytest.mark.parametrize("check", BESIDE_CHECKS, ids=_named)
def test_promise_beside_the_storage(check: Check, place: AnyPlace, drive: Drive) -> None:
    drive(asyncio.wait_for(check.run(place), timeout=60))


@pytest.mark.parametrize("place", BACKUPS_PLACES, indirect=True)
@pytest.mark.parametrize("check", BACKUPS_CHECKS, ids=_named)
def test_promise_of_backups(check: Check, place: AnyPlace, drive: Drive) -> None:
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
        "spool",
        "replay",
        "index",
        "backups",
    }


def test_no_two_checks_of_a_port_have_one_name() -> None:
    names = [(check.port, check.name) for check in checks()]
    assert len(names) == len(set(names))
