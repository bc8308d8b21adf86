"""rememberd doctor: each setting with its origin, each symptom with its cure."""

from __future__ import annotations

import typer
from rich.text import Text

from rememberd.errors import (
    DamagedStore,
    FolderInUse,
    MissingExtra,
    NotAuthenticated,
    RememberdError,
    ServerUnreachable,
    SettingsError,
    StorageFull,
    StorageUnavailable,
)
from rememberd.model import Diagnosis, Finding, SettingValue

from .command import command
from .exits import UNHEALTHY
from .options import Place
from .output import Output
from .pictures import heading, table

_STYLES = {"ok": "green", "warning": "yellow", "broken": "bold red"}

_CURES: dict[type[RememberdError], str] = {
    SettingsError: "mend the setting; its origin is named",
    FolderInUse: "end that process, or let it serve the folder: rememberd serve",
    ServerUnreachable: "start the server (rememberd serve), or mend --url",
    StorageFull: "free some space",
    StorageUnavailable: "make the place writable, start the database server, or choose another place",
    DamagedStore: "restore a backup",
    MissingExtra: "install the optional part that is named",
    NotAuthenticated: "give an API key that is in force: --api-key or REMEMBERD_API_KEY",
}


@command
async def doctor(place: Place, output: Output) -> None:
    """Check everything. Exits with 1 if something is broken."""
    diagnosis = await _diagnose(place)
    checks, settings = table("check", "", "what was seen", "cure"), table("setting", "value", "from")
    for finding in diagnosis.findings:
        checks.add_row(finding.check, Text(finding.state, _STYLES[finding.state]), finding.detail, finding.cure)
    for setting in diagnosis.settings:
        settings.add_row(setting.name, setting.value, setting.origin)
    document = {"healthy": diagnosis.healthy, "findings": diagnosis.findings, "settings": diagnosis.settings}
    output.show(document, checks, heading("Settings"), settings)
    if not diagnosis.healthy:
        raise typer.Exit(UNHEALTHY)


async def _diagnose(place: Place) -> Diagnosis:
    """What memory says of itself; if it cannot be opened, why not."""
    settings: tuple[SettingValue, ...] = ()
    try:
        settings = place.settings().described()
        async with place.connect() as memory:
            return await memory.operate.doctor()
    except RememberdError as failure:
        cure = next((_CURES[kind] for kind in type(failure).__mro__ if kind in _CURES), "see the troubleshooting page")
        check = "settings" if isinstance(failure, SettingsError) else "storage"
        broken = Finding(check=check, state="broken", detail=failure.detail, cure=cure)
        return Diagnosis(findings=(broken,), settings=settings)
