"""The options that many commands share, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rememberd.connect import Connecting, connect
from rememberd.model import DEFAULT_TENANT, Scope
from rememberd.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .output import Output

ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The settings file. [config/memory.yaml]")
]
DataFolder = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="The folder of the store. [./memory]")]
Filter = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="KEY=VALUE", help="By kind, role, topic, after, metadata.KEY …; repeatable."),
]
Limit = Annotated[int, typer.Option("--limit", help="How many at most.")]
After = Annotated[str | None, typer.Option("--after", metavar="CURSOR", help="Go on where the last page ended.")]


@dataclass(frozen=True, slots=True)
class Place:
    """Where memory is: a folder, a server, or what the settings say."""

    data: DataFolder = None
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="A running rememberd, or postgresql://…, instead.")
    ] = None
    api_key: Annotated[
        str | None, typer.Option("--api-key", metavar="KEY", help="The API key for --url. [REMEMBERD_API_KEY]")
    ] = None
    config: ConfigFile = None

    def __post_init__(self) -> None:
        if self.data is not None and self.url is not None:
            raise typer.BadParameter("--data and --url exclude each other")

    def settings(self) -> Settings:
        return load_settings(self.config, given={"data.folder": self.data})

    def connect(self) -> Connecting:
        """Open memory there; a folder that a running server owns is used through that server."""
        settings = self.settings()
        return connect(
            self.url or self.data, api_key=self.api_key or settings.maybe("server.api_key"), settings=settings
        )


@dataclass(frozen=True, slots=True)
class Address:
    """Whose memory: a scope, as options."""

    tenant: Annotated[str, typer.Option("--tenant", help="The tenant.")] = DEFAULT_TENANT
    user: Annotated[str | None, typer.Option("--user", help="The user; without it, what belongs to no user.")] = None
    agent: Annotated[str | None, typer.Option("--agent", help="The agent.")] = None
    thread: Annotated[str | None, typer.Option("--thread", help="The thread.")] = None

    @property
    def scope(self) -> Scope:
        return Scope(self.tenant, self.user, self.agent, self.thread)

    def note_if_nobody(self, output: Output, *, found: bool) -> None:
        """Nothing found without a user is what newcomers trip over."""
        if not found and self.user is None:
            output.note("only what belongs to no user was looked at; say whose memory with --user")


def by_key(pairs: Sequence[str] | None, option: str) -> dict[str, list[str]]:
    """``KEY=VALUE`` options as a mapping; a key given twice has both values."""
    values: dict[str, list[str]] = {}
    for pair in pairs or ():
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise typer.BadParameter(f"{option} takes KEY=VALUE, not {pair!r}")
        values.setdefault(key, []).append(value)
    return values


def filters_of(pairs: Sequence[str] | None) -> dict[str, str | list[str]]:
    """Filters as the verbs of memory take them: one value as it is, several as a list."""
    return {key: values[0] if len(values) == 1 else values for key, values in by_key(pairs, "--filter").items()}
