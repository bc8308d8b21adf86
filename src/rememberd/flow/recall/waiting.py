"""What waits in the spool, among what may answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from rememberd.ports.candidates import place_of

from .gather import Found, counted_together, evidence, may_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.flow.things import Thing
    from rememberd.model import Message, Scope
    from rememberd.model.change import Noun

    from .plan import Plan


class Waiting(Protocol):
    """Knows the messages that wait for the storage; ``engaged`` if there are any."""

    engaged: bool

    async def seen(self, scope: Scope, *, everyone: bool) -> list[Message]: ...


def with_waiting(found: Found, messages: Sequence[Message], plan: Plan) -> Found:
    """What was found, and the messages that wait. Some may be recorded already: a message counts once."""
    as_of = plan.query.as_of
    waiting: dict[tuple[Noun, str], Thing] = {
        ("message", message.id): message
        for message in messages
        if may_answer(message, plan) and (as_of is None or message.recorded_at <= as_of)
    }
    fresh = [evidence(message, plan)._replace(place=place_of(None, None)) for message in waiting.values()]
    return replace(
        found,
        candidates=counted_together(found.candidates.without(waiting), fresh, plan),
        things={**found.things, **waiting},
    )
