"""The doctor: what works, what does not, and the cure for each symptom."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rememberd.errors import ModelUnavailable, RememberdError, SettingsError
from rememberd.model import Diagnosis, Finding

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rememberd.ports.parts import Parts

_FAR_BEHIND = 10_000


async def examine(parts: Parts) -> Diagnosis:
    examinations: dict[str, Callable[[Parts], Awaitable[Finding]]] = {
        "storage": _storage,
        "index": _index,
        "jobs": _jobs,
        **({"vectors": _vectors} if parts.embedders else {}),
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
    for embedder in parts.embedders:
        try:
            await embedder.check()
        except (ModelUnavailable, SettingsError) as failure:
            return _warning("vectors", f"lane {embedder.lane}: {failure.detail}")
    lanes = ", ".join(embedder.lane for embedder in parts.embedders)
    return Finding(check="vectors", state="ok", detail=f"recall goes by meaning too, in the lanes {lanes}")


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
