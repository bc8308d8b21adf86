"""Counts of a tenant, or of the whole store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd import telemetry
from rememberd.model import JobCounts, Stats, TokenTotals, ViewProgress

from .lanes import read_lanes

if TYPE_CHECKING:
    from rememberd.ports.parts import Parts


async def read_stats(parts: Parts, tenant: str | None) -> Stats:
    storage = parts.storage
    jobs = await storage.jobs.count()
    head = await storage.feed.head()
    lanes = await read_lanes(parts)
    owed = [lane.owed for lane in lanes if lane.state in ("serving", "going") and parts.lanes.wanted]
    raw, condensed = int(telemetry.value("tokens_raw")), int(telemetry.value("tokens_condensed"))
    return Stats(
        tenant=tenant,
        messages=await storage.records.count(tenant),
        memories=await storage.holdings.count(tenant),
        jobs=JobCounts(jobs.get("waiting", 0), jobs.get("running", 0), jobs.get("dead", 0)),
        spool=parts.spool.usage().waiting,
        dead_letters=parts.spool.usage().dead,
        tokens=TokenTotals(raw, condensed, max(0, raw - condensed)),
        index=ViewProgress(head=head, applied=await parts.index.watermark(), unembedded=max(owed, default=0)),
        lanes=lanes,
        storage=storage.description,
        under_way=dict(parts.under_way),
    )
