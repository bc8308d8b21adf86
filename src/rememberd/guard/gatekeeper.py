"""The gatekeeper: tells whose API key a token is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rememberd.errors import Unavailable
from rememberd.model import Actor

from .api_keys import opens, same_token, split_token

if TYPE_CHECKING:
    from rememberd.model import ApiKey
    from rememberd.ports.api_keys import ApiKeys

_MOST_KNOWN = 10_000


class Gatekeeper:
    """A revoked API key is let in no longer than ``remember_for`` seconds after; while the storage cannot be asked,
    an API key that it knew when it last could is still let in, so that messages reach the spool."""

    def __init__(self, api_keys: ApiKeys, operator_token: str | None, *, remember_for: float = 1.0) -> None:
        self._api_keys = api_keys
        self._operator_token = operator_token
        self._remember_for = remember_for
        self._known: dict[str, tuple[float, ApiKey | None]] = {}

    async def authenticate(self, token: str) -> Actor | None:
        if self._operator_token is not None and same_token(token, self._operator_token):
            return Actor("operator", operator=True)
        split = split_token(token)
        if split is None:
            return None
        api_key_id, secret = split
        api_key = await self._look_up(api_key_id)
        return api_key.actor if api_key is not None and opens(api_key, secret) else None

    async def _look_up(self, api_key_id: str) -> ApiKey | None:
        seen, api_key = self._known.get(api_key_id, (0.0, None))
        if time.monotonic() - seen > self._remember_for:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            try:
                api_key = await self._api_keys.get(api_key_id)
            except Unavailable:
                if api_key is None:
                    raise
            self._known[api_key_id] = (time.monotonic(), api_key)
        return api_key
