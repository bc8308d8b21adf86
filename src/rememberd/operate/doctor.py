"""The doctor: what works, what does not, and the cure for each symptom."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rememberd.errors import ModelUnavailable, RememberdError, SettingsError
from rememberd.model import Diagnosis, Finding
from rememberd.ports.models import space_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rememberd.ports.parts import Parts

_FAR_BEHIND = 10_000
_NEARLY_FULL = 0.8


async def examine(parts: Parts) -> Diagnosis:
    examinations: dict[str, Callable[[Parts], Awaitable[Finding]]] = {
        "storage": _storage,
        "spool": _spool,
        "index": _index,
        "jobs": _jobs,
        **({"vectors": _vectors} if parts.lanes.wanted else {}),
        "clock": _clock,
    }
    findings = []
    for check, look in examinations.items():
        try:
            findings.append(await look(parts))
        except RememberdError as failure:
            findings.append(
                Finding(
                    check=check, state="broken", detail=failure.detail, cure="see the log; try again when it answers"
                )
            )
    findings += [_warning(part, symptom) for part, symptom in parts.missing.items()]
    return Diagnosis(findings=tuple(findings), settings=parts.settings)


async def _storage(parts: Parts) -> Finding:
    await parts.storage.check()
    return Finding(check="storage", state="ok", detail=f"{parts.storage.description} answers")


async def _spool(parts: Parts) -> Finding:
    usage = parts.spool.usage()
    symptoms = {
        f"{usage.damaged:,} damaged pieces were kept aside": f"look at the files *.damaged in {usage.place}",
        f"{usage.size:,} of {usage.limit:,} bytes are used": "bring the storage back, or raise failure_queue.max_bytes",
        f"{usage.dead:,} dead letters": "rememberd failures list",
        f"{usage.waiting:,} calls wait for the storage": "make the storage writable; they follow by themselves",
    }
    shown = (usage.damaged, usage.size > _NEARLY_FULL * usage.limit, usage.dead, usage.waiting)
    found = {detail: cure for (detail, cure), show in zip(symptoms.items(), shown, strict=True) if show}
    if found:
        return Finding(check="spool", state="warning", detail="; ".join(found), cure="; ".join(found.values()))
    return Finding(check="spool", state="ok", detail="nothing waits")


async def _index(parts: Parts) -> Finding:
    head, applied = await parts.storage.feed.head(), await parts.index.watermark()
    if applied > head:
        return Finding(
            check="index",
            state="broken",
            detail=f"the index is ahead of the storage ({applied} > {head}): it belongs to another store",
            cure="rememberd rebuild",
        )
    if head - applied > _FAR_BEHIND:
        return Finding(
            check="index",
            state="warning",
            detail=f"{head - applied:,} changes behind: queries are right but slow",
            cure="wait, or rememberd rebuild",
        )
    return Finding(check="index", state="ok", detail=f"applied {applied:,} of {head:,} changes")


async def _vectors(parts: Parts) -> Finding:
    for missing in parts.lanes.missing():
        return _warning("vectors", missing.removeprefix("vectors: "))
    for embedder in (*parts.lanes.serving, *parts.lanes.coming):
        try:
            await embedder.check()
        except (ModelUnavailable, SettingsError) as failure:
            return _warning("vectors", f"lane {embedder.lane}: {failure.detail}")
    lanes = ", ".join(embedder.lane for embedder in parts.lanes.serving)
    coming = ", ".join(space_of(embedder).name for embedder in parts.lanes.coming)
    detail = f"recall goes by meaning too, in the lanes {lanes}"
    return Finding(check="vectors", state="ok", detail=f"{detail}; on its way: {coming}" if coming else detail)


def _warning(check: str, symptom: str) -> Finding:
    detail, _, cure = symptom.partition("; ")
    return Finding(check=check, state="warning", detail=detail, cure=cure)


async def _jobs(parts: Parts) -> Finding:
    dead = (await parts.storage.jobs.count()).get("dead", 0)
    if dead:
        return Finding(
            check="jobs",
            state="warning",
            detail=f"{dead:,} dead jobs",
            cure="look at their errors: rememberd jobs list --state dead; then rememberd jobs retry ID",
        )
    return Finding(check="jobs", state="ok", detail="no dead jobs")


async def _clock(parts: Parts) -> Finding:
    latest = await parts.storage.audit.list(None, before=None, limit=1)
    now = parts.clock()
    if now < datetime(2025, 1, 1, tzinfo=UTC) or (latest and latest[0].at - now > timedelta(minutes=5)):
        return Finding(
            check="clock",
            state="warning",
            detail=f"the clock says {now:%Y-%m-%d %H:%M} UTC, earlier than what is stored",
            cure="set the system's clock; windows and expiry depend on it",
        )
    return Finding(check="clock", state="ok", detail=f"{now:%Y-%m-%d %H:%M} UTC")
