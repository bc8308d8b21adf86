"""Access: what an actor may touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd.errors import AccessDenied

if TYPE_CHECKING:
    from rememberd.model import Actor


def permit_tenant(actor: Actor, tenant: str) -> None:
    """Raise ``AccessDenied`` unless the actor may read and write this tenant."""
    if not actor.operator and actor.tenant != tenant:
        raise AccessDenied("this API key is for another tenant; leave the tenant out or use that tenant's key")


def permit_operator(actor: Actor) -> None:
    """Raise ``AccessDenied`` unless the actor is an operator."""
    if not actor.operator:
        raise AccessDenied("this call needs the operator's API key")
