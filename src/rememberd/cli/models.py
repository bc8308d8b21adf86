"""rememberd models: what vectors and exact token counts need, fetched once; and which of them a store goes by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from rememberd import wiring
from rememberd.settings import Settings, load_settings

from .command import command
from .exits import UNHEALTHY
from .options import ConfigFile, Place
from .output import Output
from .pictures import table

models = typer.Typer(rich_markup_mode=None)

_STYLES = {"ok": "green", "missing": "yellow", "damaged": "bold red"}
_STYLES |= {"serving": "green", "going": "yellow", "coming": "cyan", "kept": "dim"}


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the models are."""

    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="The models folder. [in the user's cache]")
    ] = None
    config: ConfigFile = None

    def settings(self, **given: Any) -> Settings:
        return load_settings(self.config, given={"models.folder": self.folder, **given})


@models.command("pull")
@command
def pull(
    shelf: Shelf,
    output: Output,
    source: Annotated[
        str | None, typer.Option("--from", metavar="PLACE", help="A folder of jars, or a Maven repository's address.")
    ] = None,
) -> None:
    """Fetch what is missing or damaged. Every file is checked against its pinned sha256."""
    chosen = wiring.embedding.models(shelf.settings(**{"models.source": source}))
    fetched = []
    for artefact in chosen.catalogue:
        with output.progress(f"fetching {artefact.name}") as advance:
            if chosen.pull(artefact, advance):
                fetched.append(artefact.name)
    said = f"fetched {', '.join(fetched)}" if fetched else "everything was there"
    output.show({"folder": str(chosen.folder), "fetched": fetched}, f"{chosen.folder}: {said}.")


@models.command("list")
@command
def list_models(shelf: Shelf, output: Output) -> None:
    """List what can be fetched, what it is for, and whether it is there."""
    chosen = wiring.embedding.models(shelf.settings())
    states = {found.file: found.state for found in chosen.look(thorough=False)}
    shape = table("model", "for", "licence", "MB", "")
    listed = []
    for artefact in chosen.catalogue:
        state = next((states[file.name] for file in artefact.files if states[file.name] != "ok"), "ok")
        size = sum(file.size for file in artefact.files)
        coordinates = f"{artefact.group}:{artefact.artefact}:{artefact.version}"
        shape.add_row(artefact.name, artefact.about, artefact.licence, f"{size / 1e6:.0f}", _styled(state))
        listed.append(
            {"name": artefact.name, "about": artefact.about, "licence": artefact.licence, "size": size}
            | {"coordinates": coordinates, "state": state}
        )
    output.show({"folder": str(chosen.folder), "items": listed}, shape)


@models.command("verify")
@command
def verify(shelf: Shelf, output: Output) -> None:
    """Compute every file's sha256 anew. Exits with 1 if one is missing or damaged."""
    chosen = wiring.embedding.models(shelf.settings())
    found = chosen.look(thorough=True)
    shape = table("file", "sha256", "")
    for one in found:
        shape.add_row(one.file, one.sha256[:16], _styled(one.state))
    whole = all(one.state == "ok" for one in found)
    output.show({"folder": str(chosen.folder), "ok": whole, "files": found}, shape)
    if not whole:
        output.note("rememberd models pull fetches what is missing or damaged")
        raise typer.Exit(UNHEALTHY)


@models.command("status")
@command
async def status(place: Place, output: Output) -> None:
    """Tell which models' vectors serve queries, and how far those are that are coming."""
    async with place.connect() as memory:
        lanes = await memory.operate.lanes()
    shape = table("lane", "model", "", "texts to go", "problem")
    for lane in lanes:
        owed = f"{lane.owed:,}" if lane.state != "kept" else ""
        shape.add_row(lane.lane, lane.model, Text(lane.state, _STYLES[lane.state]), owed, lane.problem)
    output.show({"items": lanes}, shape if lanes else "no vectors are held")


@models.command("drop")
@command
async def drop(
    place: Place,
    output: Output,
    lane: Annotated[str, typer.Argument(help="The lane, as `models status` names it.")],
    model: Annotated[str, typer.Argument(help="The model, as `models status` names it.")],
) -> None:
    """Let go of the vectors of a model that are only kept. Going back to it would take embedding anew."""
    async with place.connect() as memory:
        dropped = await memory.operate.drop_lane(lane, model)
    output.show({"dropped": dropped}, f"{dropped:,} vectors of {lane}/{model} were dropped.")


def _styled(state: str) -> Text:
    return Text(state, _STYLES[state])
