"""A check: one promise of a port as an async function whose name is the promise; decorators enter it into the list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .place import AnyPlace, BackupsPlace, IndexPlace, Place, SpoolPlace, WindowsPlace
from .trial import BackupsTrial, IndexTrial, SpoolTrial, StorageTrial, WindowsTrial

StorageCheck: TypeAlias = Callable[[StorageTrial], Awaitable[None]]
IndexCheck: TypeAlias = Callable[[IndexTrial], Awaitable[None]]
WindowsCheck: TypeAlias = Callable[[WindowsTrial], Awaitable[None]]
SpoolCheck: TypeAlias = Callable[[SpoolTrial], Awaitable[None]]
BackupsCheck: TypeAlias = Callable[[BackupsTrial], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Check:
    """``needs`` is what a place must offer for the check to run on it; ``body`` raises if the promise is broken."""

    port: str
    name: str
    needs: type
    body: Callable[[Any], Awaitable[None]]

    @property
    def promise(self) -> str:
        return self.name.replace("_", " ")

    def runs_on(self, place: object) -> bool:
        return isinstance(place, self.needs)

    async def run(self, place: AnyPlace) -> None:
        """Raise ``BrokenPromiseError``, or whatever the backend raised, if the promise does not hold at the place."""
        await self.body(place)


#: Every check, in the order the modules of the kit define them.
CHECKS: list[Check] = []


def storage_promise(port: str) -> Callable[[StorageCheck], StorageCheck]:
    """Enter a check of one of the ports that a storage bundles."""

    def enter(check: StorageCheck) -> StorageCheck:
        async def body(place: Place) -> None:
            async with StorageTrial.on(place) as trial:
                await check(trial)

        CHECKS.append(Check(port, _name(check), Place, body))
        return check

    return enter


def index_promise(check: IndexCheck) -> IndexCheck:
    async def body(place: IndexPlace) -> None:
        async with IndexTrial.on(place) as trial:
            await check(trial)

    CHECKS.append(Check("index", _name(check), IndexPlace, body))
    return check


def windows_promise(check: WindowsCheck) -> WindowsCheck:
    async def body(place: WindowsPlace) -> None:
        async with WindowsTrial.on(place) as trial:
            await check(trial)

    CHECKS.append(Check("windows", _name(check), WindowsPlace, body))
    return check


def spool_promise(check: SpoolCheck) -> SpoolCheck:
    async def body(place: SpoolPlace) -> None:
        async with SpoolTrial.on(place) as trial:
            await check(trial)

    CHECKS.append(Check("spool", _name(check), SpoolPlace, body))
    return check


def backups_promise(check: BackupsCheck) -> BackupsCheck:
    async def body(place: BackupsPlace) -> None:
        async with BackupsTrial.on(place) as trial:
            await check(trial)

    CHECKS.append(Check("backups", _name(check), BackupsPlace, body))
    return check


def _name(check: Callable[..., object]) -> str:
    return getattr(check, "__name__", repr(check))
