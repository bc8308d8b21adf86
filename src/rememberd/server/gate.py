"""Who is let in, and as whom."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rememberd.errors import AccessDenied, NotAuthenticated
from rememberd.model import Actor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rememberd.verbs import Engine

LOCAL = Actor("local", operator=True)
OWNER = Actor("owner", operator=True)


class ServedEngine(Protocol):
    """What the server needs of the engine that it serves."""

    def acting_as(self, actor: Actor) -> Engine:
        """The engine as one caller has it: access and audit are theirs. Cheap: one per request."""
        ...

    async def authenticate(self, token: str) -> Actor | None:
        """The bearer of an API key, or None if it is not known or was revoked; compared in constant time."""
        ...

    async def ready(self) -> tuple[str, ...]:
        """What is degraded, nothing when all is well. Raises ``Unavailable`` when not even writes are accepted."""
        ...


@dataclass(frozen=True, slots=True)
class Gate:
    """``keyless`` lets everyone in as the operator: for loopback only.

    ``owner_token`` is what the owning process tells its own commands; it grants the operator's rights.
    ``hosts`` are the names that the Host header may carry, lower case and without a port; None means any.
    """

    keyless: bool = False
    owner_token: str | None = None
    hosts: frozenset[str] | None = None

    def check_host(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise ``AccessDenied`` for a name we do not go by: a web page may point its own name at this machine."""
        if self.hosts is not None and _name(headers.get(b"host", b"")) not in self.hosts:
            raise AccessDenied("This server does not answer to the name in the Host header.")

    async def admit(self, headers: Mapping[bytes, bytes], engine: ServedEngine) -> Actor:
        """The caller. Raises ``NotAuthenticated`` without an API key that is known."""
        if self.keyless:
            return LOCAL
        token = _token(headers)
        if token is None:
            raise NotAuthenticated("An API key is needed: Authorization: Bearer …, or X-API-Key.")
        if self.owner_token is not None and hmac.compare_digest(token.encode(), self.owner_token.encode()):
            return OWNER
        actor = await engine.authenticate(token)
        if actor is None:
            raise NotAuthenticated("This API key is not known, or was revoked.")
        return actor


def _token(headers: Mapping[bytes, bytes]) -> str | None:
    scheme, _, credentials = headers.get(b"authorization", b"").partition(b" ")
    token = credentials if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
    return token.strip().decode("latin-1") or None


def _name(host: bytes) -> str:
    name = host.decode("latin-1").lower()
    if name.startswith("["):
        return name.partition("]")[0].removeprefix("[")
    return name.partition(":")[0]
