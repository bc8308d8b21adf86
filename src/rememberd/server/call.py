"""One call of a route: who calls, in which scope, under which conditions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastapi import Request

from rememberd.errors import InvalidRequest
from rememberd.guard.access import permit_tenant
from rememberd.model import DEFAULT_TENANT, Actor, Scope

if TYPE_CHECKING:
    from starlette.types import Receive
    from starlette.types import Scope as Connection

    from rememberd.verbs import Engine

    from .bodies import Address, FlatBody

_IDEMPOTENCY_KEY = b"idempotency-key"
_IF_MATCH = b"if-match"
_ETAG = re.compile(rb'"(\d{1,15})"')


class Call(Request):
    """A request whose caller is known. ``engine`` acts as that caller."""

    actor: Actor
    engine: Engine

    def __init__(self, connection: Connection, receive: Receive) -> None:
        super().__init__(connection, receive)
        self.fields: dict[bytes, bytes] = dict(connection["headers"])

    def within(self, address: Address | FlatBody) -> Scope:
        """The scope that the request names, in the caller's own tenant."""
        return Scope(self.tenant(address.tenant), address.user, address.agent, address.thread)

    def tenant(self, named: str | None) -> str:
        """The tenant to act in: the API key's, or the one an operator names. Raises ``AccessDenied`` for another's."""
        tenant = named or self.actor.tenant or DEFAULT_TENANT
        permit_tenant(self.actor, tenant)
        return tenant

    @property
    def idempotency_key(self) -> str | None:
        """The header of that name, as UTF-8."""
        value = self.fields.get(_IDEMPOTENCY_KEY)
        try:
            return None if value is None else value.decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidRequest.because("/idempotency_key", "is not UTF-8") from None

    @property
    def expected_revision(self) -> int | None:
        """The revision that If-Match names; None without the header, or where it says any (``*``)."""
        value = self.fields.get(_IF_MATCH)
        if value is None or value.strip() == b"*":
            return None
        etag = _ETAG.fullmatch(value.strip())
        if etag is None:
            raise InvalidRequest.because("/if_match", 'must be one ETag as it was answered, like "3", or *')
        return int(etag[1])
