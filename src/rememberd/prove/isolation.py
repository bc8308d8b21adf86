"""Other people's memory: everyone tries to read and to change what belongs to everyone else, and nobody gets any."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from rememberd import wiring
from rememberd.errors import RememberdError
from rememberd.model import Filters, MemoryPatch, NewMemory, NewMessage, Query, Scope
from rememberd.verbs import Engine

from .served import Served
from .verdict import Row

if TYPE_CHECKING:
    from .served import Place

_TENANTS = ("acme", "globex")
_USERS = ("lin", "ada")
_MESSAGES = 3


@dataclass(frozen=True, slots=True)
class _Person:
    """A user of a tenant, who has said something that nobody else may hear: ``secret``."""

    name: str
    tenant: str
    scope: Scope
    engine: Engine
    secret: str
    item: str
    turn: str
    cursor: str | None


Probe = Callable[[_Person, _Person], Awaitable[Any]]


def _whole(person: _Person) -> Scope:
    return replace(person.scope, thread=None)


def _as_theirs(me: _Person, other: _Person) -> Scope:
    """The other's own scope, as I would name it."""
    return replace(other.scope, tenant=other.tenant)


#: What may be answered, as long as nothing of the other's is in it.
READS: dict[str, Probe] = {
    "query": lambda me, other: me.engine.query(_whole(me), Query(text=other.secret, floor=0, k=100)),
    "query in their thread": lambda me, other: me.engine.query(
        replace(me.scope, thread=other.scope.thread), Query(text=other.secret, floor=0)
    ),
    "query filtered by their thread": lambda me, other: me.engine.query(
        _whole(me), Query(text=other.secret, filters=Filters(thread=(str(other.scope.thread),)))
    ),
    "history": lambda me, other: _history(me, _whole(me)),
    "history of their thread": lambda me, other: _history(me, replace(me.scope, thread=other.scope.thread)),
    "search": lambda me, other: _history(me, _whole(me), search=other.secret),
    "their cursor": lambda me, other: _history(me, _whole(me), after=other.cursor),
    "window of their thread": lambda me, other: me.engine.window(
        replace(me.scope, thread=other.scope.thread), resume=True
    ),
    "list": lambda me, other: me.engine.list(_whole(me), Filters(), after=None, limit=100),
}

#: What has to be refused.
TAKES: dict[str, Probe] = {
    "get": lambda me, other: me.engine.get(_whole(me), other.item),
    "versions": lambda me, other: me.engine.versions(_whole(me), other.item),
    "revise": lambda me, other: me.engine.revise(_whole(me), other.item, MemoryPatch(text="mine"), None),
    "delete": lambda me, other: me.engine.delete(_whole(me), other.item, None),
    "end a turn": lambda me, other: me.engine.end_turn(_whole(me), other.turn, "ok", None, {}),
}

#: What has to be refused to another tenant.
TRESPASSES: dict[str, Probe] = {
    "name their tenant in a query": lambda me, other: me.engine.query(_as_theirs(me, other), Query(text=other.secret)),
    "name their tenant in a history": lambda me, other: _history(me, _as_theirs(me, other)),
    "name their tenant in a message": lambda me, other: _say(me.engine, _as_theirs(me, other), "mine"),
    "query over their users": lambda me, other: me.engine.operate.query(other.tenant, Query(text=other.secret)),
    "read the audit": lambda me, other: me.engine.operate.audit(other.tenant),
}


async def isolation(place: Place) -> Row:
    """Two tenants with two users each, of the same names and threads, all after each other's memory."""
    operators_key = secrets.token_urlsafe()
    server = await Served.start(place, settings={"server.api_key": operators_key})
    assert server is not None
    operator = wiring.open_remote(server.url, operators_key)
    engines: list[Engine] = [operator]
    try:
        people: list[_Person] = []
        for tenant in _TENANTS:
            key = await operator.operate.add_api_key(tenant)
            engines.append(wiring.open_remote(server.url, key.token))
            people += [await _settled(engines[-1], tenant, user) for user in _USERS]
        tries, leaked = 0, list[str]()
        for me, other in itertools.permutations(people, 2):
            trespasses = TRESPASSES if me.tenant != other.tenant else {}
            for name, probe in (READS | TAKES | trespasses).items():
                tries += 1
                if await _gets_something(probe, me, other, refused=name not in READS):
                    leaked.append(f"{me.name} from {other.name}: {name}")
        leaked += [f"{person.name} was changed" for person in people if not await _is_unharmed(person)]
    finally:
        for engine in engines:
            await engine.close()
        await server.end()
    said = len(people) * (_MESSAGES + 1)
    return Row(fault="reach for another's memory", tries=tries, acknowledged=said, leaked=tuple(leaked))


async def _settled(engine: Engine, tenant: str, user: str) -> _Person:
    secret = secrets.token_hex(8)
    scope = Scope(user=user, thread=f"thread of {user}")
    for number in range(_MESSAGES):
        await _say(engine, scope, f"{secret} is the word, {number}")
    item = await engine.add(scope, NewMemory(text=f"{secret} is the word"), None)
    turn = await engine.begin_turn(scope, NewMessage(role="user", content=secret), Query(text=secret), None)
    cursor = (await _history_page(engine, replace(scope, thread=None), limit=1)).next
    return _Person(f"{tenant}/{user}", tenant, scope, engine, secret, item.id, turn.id, cursor)


async def _gets_something(probe: Probe, me: _Person, other: _Person, *, refused: bool) -> bool:
    try:
        answer = await probe(me, other)
    except RememberdError:
        return False
    return refused or other.secret.encode() in msgspec.json.encode(answer)


async def _is_unharmed(person: _Person) -> bool:
    item = await person.engine.get(person.scope, person.item)
    window = await person.engine.window(person.scope, resume=True)
    return item.revision == 1 and len(window) == _MESSAGES + 1


async def _say(engine: Engine, scope: Scope, content: str) -> Any:
    return await engine.ingest(scope, [NewMessage(role="user", content=content)], None)


async def _history(me: _Person, scope: Scope, *, after: str | None = None, search: str | None = None) -> Any:
    return await _history_page(me.engine, scope, after=after, search=search)


async def _history_page(
    engine: Engine, scope: Scope, *, after: str | None = None, search: str | None = None, limit: int = 100
) -> Any:
    return await engine.history(scope, order="newest", after=after, limit=limit, search=search)
