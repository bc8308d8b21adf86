"""A check: one promise of a port as an async function whose name is the promise; decorators enter it into the list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from .place import AnyPlace, BackupsPlace, IndexPlace, Place, SpoolPlace, WindowsPlace
from .trial import BackupsTrial, IndexTrial, SpoolTrial, StorageTrial, WindowsTrial

T = TypeVar("T")

Body: TypeAlias = Callable[[T], Awaitable[None]]
Opening: TypeAlias = AbstractAsyncContextManager[T]


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


def _promise(port: str, needs: type, on: Callable[[Any], Opening[T]]) -> Callable[[Body[T]], Body[T]]:
    """Enters a check of a port: it is given a trial that was opened on a place which offers the port."""

    def enter(check: Body[T]) -> Body[T]:
        async def body(place: Any) -> None:
            async with on(place) as trial:
                await check(trial)

        CHECKS.append(Check(port, _name(check), needs, body))
        return check

    return enter


def storage_promise(port: str) -> Callable[[Body[StorageTrial]], Body[StorageTrial]]:
    """One of the ports that a storage bundles."""
    return _promise(port, Place, StorageTrial.on)


index_promise = _promise("index", IndexPlace, IndexTrial.on)
windows_promise = _promise("windows", WindowsPlace, WindowsTrial.on)
spool_promise = _promise("spool", SpoolPlace, SpoolTrial.on)
backups_promise = _promise("backups", BackupsPlace, BackupsTrial.on)


def _name(check: Callable[..., object]) -> str:
    return getattr(check, "__name__", repr(check))
