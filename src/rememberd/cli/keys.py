"""rememberd keys: the API keys that let callers in."""

from __future__ import annotations

from typing import Annotated

import typer

from rememberd.client.wire import shown
from rememberd.errors import NotFound

from .command import command
from .options import Place
from .output import Output
from .pictures import moment, said, table

keys = typer.Typer(rich_markup_mode=None)


@keys.command("add")
@command
async def add(
    place: Place,
    output: Output,
    tenant: Annotated[str | None, typer.Argument(help="The tenant that it lets into.")] = None,
    operator: Annotated[bool, typer.Option("--operator", help="For the operator: every tenant, every call.")] = False,
) -> None:
    """Make an API key. It is shown this once; only a hash is stored."""
    if operator == (tenant is not None):
        raise typer.BadParameter("give either a TENANT or --operator")
    async with place.connect() as memory:
        made = await memory.operate.add_api_key(tenant, operator=operator)
    output.show(made, made.token)
    output.note(f"{made.id}: shown this once. A server that runs without API keys asks for them after its next start.")


@keys.command("list")
@command
async def list_keys(place: Place, output: Output) -> None:
    """List all API keys, the revoked ones included."""
    async with place.connect() as memory:
        found = [shown(api_key) for api_key in await memory.operate.api_keys()]
    shape = table("id", "for", "created", "revoked")
    for api_key in found:
        whose = "the operator" if api_key.operator else f"tenant {api_key.tenant}"
        revoked = "" if api_key.revoked_at is None else moment(api_key.revoked_at)
        shape.add_row(api_key.id, said(whose), moment(api_key.created_at), revoked)
    output.show({"items": found, "next": None}, shape)


@keys.command("revoke")
@command
async def revoke(
    api_key_id: Annotated[str, typer.Argument(metavar="ID", help="The API key's id.")], place: Place, output: Output
) -> None:
    """Revoke an API key."""
    async with place.connect() as memory:
        if not await memory.operate.revoke_api_key(api_key_id):
            raise NotFound(f"no API key {api_key_id!r} is in force")
    output.show({"id": api_key_id, "revoked": True}, f"{api_key_id} is revoked.")
