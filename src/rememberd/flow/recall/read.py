"""Reading again: from ranked candidates to hits, each as the storage has it now, under the scope."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rememberd.language.tokens import estimate
from rememberd.language.when import shown
from rememberd.model import MESSAGE, Hit, Message

from .fold import Fold
from .gather import admitted_things

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rememberd.flow.things import Thing
    from rememberd.ports.storage import Storage

    from .gather import Found
    from .plan import Plan
    from .rank import Ranked

_PAGE = 50
_SHORT_TEXT = 30  # tokens
_TO_SPARE = 1.3  # tokens are only estimated here, mostly too many


@dataclass(frozen=True, slots=True)
class Read:
    """The hits, best first; ``repeated`` say the same as a better one of their source."""

    hits: list[Hit] = field(default_factory=list)
    repeated: list[Hit] = field(default_factory=list)


async def read_hits(storage: Storage, plan: Plan, found: Found, ranking: Sequence[Ranked]) -> Read:
    """As many as were asked for, and at least as many as could fill the budget; what one source says twice is folded
    into one."""
    hits: list[Hit] = []
    fold = Fold()
    folds = "fold" in plan.stages
    tokens = 0
    start = 0
    while start < len(ranking) and (len(hits) < plan.query.k or tokens < _TO_SPARE * plan.query.budget):
        missing = max(plan.query.k - len(hits), int(_TO_SPARE * plan.query.budget - tokens) // _SHORT_TEXT)
        page = ranking[start : start + min(missing + 1, _PAGE)]
        start += len(page)
        unread = [address for each in page if (address := (each.noun, each.id)) not in found.things]
        read = await admitted_things(storage, plan, unread)
        for each in page:
            address = each.noun, each.id
            answer = read.get(address) or found.things.get(address)
            if answer is None:
                continue
            hit = _hit(answer, each, plan)
            if not folds or fold.takes(hit):
                hits.append(hit)
                tokens += estimate(hit.text) if plan.query.budget else 0
    return Read(fold.told(hits), fold.repeated)


def _why(ranked: Ranked, plan: Plan, at: datetime) -> str:
    reasons = []
    if ranked.shared:
        longest = sorted(ranked.shared, key=len, reverse=True)[:4]
        reasons.append("shares the words " + ", ".join(longest))
    if ranked.parts["vector"]:
        reasons.append("is near in meaning")
    if ranked.parts["neighbour"] > ranked.parts["lexical"] + ranked.parts["vector"]:
        reasons.append("was said next to what matches")
    if ranked.parts["speaker"]:
        reasons.append(f"was said by {ranked.name}")
    if ranked.parts["time"]:
        asked = next(span for span in plan.spans if span.holds(at))
        reasons.append(f"is from {asked.words} ({shown(asked.since, asked.until, plan.query.timezone or 'UTC')})")
    return "; ".join(reasons)


def _hit(thing: Thing, ranked: Ranked, plan: Plan) -> Hit:
    parts, why = ranked.parts, _why(ranked, plan, thing.at)
    if isinstance(thing, Message):
        return Hit(
            id=thing.id, kind=MESSAGE, text=thing.content, role=thing.role, name=thing.name, thread=thing.thread,
            user=thing.user, agent=thing.agent, topic=None, domain=None, source=None, at=thing.at,
            score=ranked.score, parts=parts, why=why, metadata=thing.metadata,
        )  # fmt: skip
    return Hit(
        id=thing.id, kind=thing.kind, text=thing.text, role=None, name=None, thread=thing.thread, user=thing.user,
        agent=thing.agent, topic=thing.topic, domain=thing.domain, source=thing.source, at=thing.at,
        score=ranked.score, parts=parts, why=why, metadata=thing.metadata,
    )  # fmt: skip
