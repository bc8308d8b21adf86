"""THE table of kinds of memory: how long each lives, how fast it fades, whether it may be evicted and is indexed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    ttl: timedelta | None
    half_life: timedelta | None
    evictable: bool
    indexed: bool
    by_hand: bool = True


_DAY = timedelta(days=1)

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(MESSAGE, ttl=None, half_life=30 * _DAY, evictable=False, indexed=True, by_hand=False),
        Kind("fact", ttl=None, half_life=None, evictable=False, indexed=True),
        Kind("preference", ttl=None, half_life=None, evictable=False, indexed=True),
        Kind("summary", ttl=None, half_life=90 * _DAY, evictable=True, indexed=True),
        Kind("experience", ttl=None, half_life=180 * _DAY, evictable=True, indexed=True),
        Kind("knowledge", ttl=None, half_life=None, evictable=False, indexed=True),
        Kind("note", ttl=None, half_life=60 * _DAY, evictable=True, indexed=True),
        Kind("scratch", ttl=_DAY, half_life=_DAY, evictable=True, indexed=False),
    )
}
