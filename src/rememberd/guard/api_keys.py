"""API keys: made, told apart and compared in constant time. Only a digest of the secret is ever stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from rememberd.model import ApiKey, NewApiKey

if TYPE_CHECKING:
    from datetime import datetime

_PREFIX = "rmd"


def make_api_key(tenant: str | None, *, operator: bool, now: datetime) -> tuple[ApiKey, NewApiKey]:
    """A new API key: what is stored of it, and what is shown once."""
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    stored = ApiKey(id=key_id, digest=digest(secret), tenant=tenant, operator=operator, created_at=now)
    return stored, NewApiKey(key_id, f"{_PREFIX}_{key_id}_{secret}", tenant, operator)


def split_token(token: str) -> tuple[str, str] | None:
    """The id and the secret of a token, or None if it is none of ours."""
    prefix, _, rest = token.partition("_")
    key_id, _, secret = rest.partition("_")
    return (key_id, secret) if prefix == _PREFIX and key_id and secret else None


def digest(secret: str) -> str:
    """The secret has full entropy, so a fast digest is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def opens(api_key: ApiKey | None, secret: str) -> bool:
    """Whether the secret is that of an API key that was not revoked; takes as long either way."""
    expected = api_key.digest if api_key is not None else digest("")
    same = hmac.compare_digest(expected, digest(secret))
    return same and api_key is not None and api_key.revoked_at is None


def same_token(one: str, other: str) -> bool:
    return hmac.compare_digest(digest(one), digest(other))
