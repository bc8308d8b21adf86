"""The operator's verbs, on the parts of a local engine."""

from __future__ import annotations

from contextlib import aclosing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rememberd.errors import Conflict, InvalidRequest, NotFound
from rememberd.flow.check import Faults, check_page, check_query
from rememberd.flow.cursor import read_cursor, write_cursor
from rememberd.guard.access import permit_operator
from rememberd.guard.api_keys import make_api_key
from rememberd.guard.audit import note_of
from rememberd.model import Page, Scope
from rememberd.patience import one_call
from rememberd.ports.api_keys import AddApiKey, RevokeApiKey
from rememberd.ports.jobs import Cancel, Retry

from .backup import keep
from .doctor import examine
from .failures import list_failures, read_failure, replay_dead
from .lanes import drop_lane, read_lanes
from .rebuild import rebuild_index, rebuild_windows
from .settle import settle
from .stats import read_stats

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator

    from rememberd.flow.spool import Spooler
    from rememberd.model import (
        Actor,
        ApiKey,
        AuditEntry,
        Context,
        Diagnosis,
        Failure,
        FailureState,
        Job,
        JobState,
        LaneProgress,
        NewApiKey,
        Progress,
        Query,
        Settled,
        Stats,
    )
    from rememberd.ports.audit import Note
    from rememberd.ports.backups import Piece
    from rememberd.ports.parts import Parts

    Recall = Callable[[Scope, Query], Awaitable[Context]]

#: The tenant under which calls that concern the whole store are noted.
WHOLE_STORE = "*"


class LocalOperations:
    def __init__(self, parts: Parts, spooler: Spooler, actor: Actor, recall_over_everyone: Recall) -> None:
        self._parts = parts
        self._spooler = spooler
        self._actor = actor
        self._recall = recall_over_everyone

    @one_call
    async def query(self, tenant: str, query: Query) -> Context:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/tenant", tenant, optional=False)
        check_query(faults, query)
        faults.raise_if_any()
        return await self._recall(Scope(tenant), query)

    @one_call
    async def stats(self, tenant: str | None = None) -> Stats:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/tenant", tenant)
        faults.raise_if_any()
        return await read_stats(self._parts, tenant)

    async def settle(self, timeout: float = 30.0) -> Settled:
        permit_operator(self._actor)
        faults = Faults()
        faults.number("/timeout", timeout, 0, 3600)
        faults.raise_if_any()
        return await settle(self._parts, timeout)

    async def rebuild(
        self, view: Literal["index", "window"] = "index", *, verify: bool = False
    ) -> AsyncIterator[Progress]:
        permit_operator(self._actor)
        if verify and view != "index":
            raise InvalidRequest.because("/verify", "is for the index: a window is made again when it is next read")
        await self._parts.storage.write(self._note("rebuild", view=view))
        steps = rebuild_index(self._parts, verify=verify) if view == "index" else rebuild_windows(self._parts)
        with self._under_way(f"rebuild {view}") as reached:
            async with aclosing(steps):
                async for progress in steps:
                    reached(progress)
                    yield progress

    def backup(self, file: Path | str) -> AsyncIterator[Progress]:
        return keep(self.backup_pieces(), Path(file))

    async def backup_pieces(self) -> AsyncGenerator[Piece, None]:
        permit_operator(self._actor)
        await self._parts.storage.write(self._note("backup"))
        with self._under_way("backup") as reached:
            async with aclosing(self._parts.backups.pieces()) as pieces:
                async for piece in pieces:
                    reached(piece.progress)
                    yield piece

    async def audit(self, tenant: str | None = None, *, after: str | None = None, limit: int = 50) -> Page[AuditEntry]:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/tenant", tenant)
        check_page(faults, limit)
        faults.raise_if_any()
        before = read_cursor(after, str, "audit", tenant)
        found = await self._parts.storage.audit.list(tenant, before=before, limit=limit + 1)
        page = found[:limit]
        return Page(tuple(page), write_cursor(page[-1].id, "audit", tenant) if len(found) > limit else None)

    async def jobs(self, state: JobState | None = None, limit: int = 50) -> tuple[Job, ...]:
        permit_operator(self._actor)
        faults = Faults()
        check_page(faults, limit)
        faults.raise_if_any()
        return tuple(await self._parts.storage.jobs.list(state, limit))

    async def failures(
        self, state: FailureState | None = None, *, after: str | None = None, limit: int = 50
    ) -> Page[Failure]:
        permit_operator(self._actor)
        faults = Faults()
        check_page(faults, limit)
        faults.raise_if_any()
        return await list_failures(self._parts.spool, self._spooler, state, after, limit)

    async def failure(self, failure_id: str) -> Failure:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/id", failure_id, optional=False)
        faults.raise_if_any()
        return await read_failure(self._parts.spool, failure_id)

    async def replay_failures(self, failure_id: str | None = None) -> int:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/id", failure_id)
        faults.raise_if_any()
        await self._parts.storage.write(self._note("failures.replay", failure=failure_id))
        return await replay_dead(self._parts.spool, self._spooler, failure_id)

    async def discard_failure(self, failure_id: str) -> bool:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/id", failure_id, optional=False)
        faults.raise_if_any()
        await self._parts.storage.write(self._note("failures.discard", failure=failure_id))
        return bool(await self._parts.spool.discard([failure_id]))

    async def job(self, job_id: str) -> Job:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/id", job_id, optional=False)
        faults.raise_if_any()
        job = await self._parts.storage.jobs.get(job_id)
        if job is None:
            raise NotFound(f"no job {job_id!r}")
        return job

    async def retry_job(self, job_id: str) -> Job:
        job = await self.job(job_id)
        retry = Retry(id=job_id, due_at=self._parts.clock())
        if not await self._parts.storage.write(retry, self._note("job.retry", job=job_id)):
            raise Conflict(f"job {job_id!r} is {job.state}; only a dead or cancelled one is tried anew")
        return await self.job(job_id)

    async def cancel_job(self, job_id: str) -> Job:
        job = await self.job(job_id)
        if not await self._parts.storage.write(Cancel(id=job_id), self._note("job.cancel", job=job_id)):
            raise Conflict(f"job {job_id!r} is {job.state}; only one that waits or runs is cancelled")
        return await self.job(job_id)

    async def doctor(self) -> Diagnosis:
        permit_operator(self._actor)
        return await examine(self._parts)

    async def lanes(self) -> tuple[LaneProgress, ...]:
        permit_operator(self._actor)
        return await read_lanes(self._parts)

    async def drop_lane(self, lane: str, model: str) -> int:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/lane", lane, optional=False)
        faults.id("/model", model, optional=False)
        faults.raise_if_any()
        dropped = await drop_lane(self._parts, lane, model)
        await self._parts.storage.write(self._note("lane.drop", lane=lane, model=model, vectors=dropped))
        return dropped

    async def add_api_key(self, tenant: str | None, *, operator: bool = False) -> NewApiKey:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/tenant", tenant, optional=operator)
        if operator and tenant is not None:
            faults.add("/tenant", "must be left out: an operator's API key is for every tenant")
        faults.raise_if_any()
        stored, shown = make_api_key(tenant, operator=operator, now=self._parts.clock())
        await self._parts.storage.write(AddApiKey(stored), self._note("api_key.add", api_key=stored.id, tenant=tenant))
        return shown

    async def api_keys(self) -> tuple[ApiKey, ...]:
        permit_operator(self._actor)
        return tuple(await self._parts.storage.api_keys.list())

    async def revoke_api_key(self, api_key_id: str) -> bool:
        permit_operator(self._actor)
        faults = Faults()
        faults.id("/id", api_key_id, optional=False)
        faults.raise_if_any()
        revoke = RevokeApiKey(api_key_id, self._parts.clock())
        return await self._parts.storage.write(revoke, self._note("api_key.revoke", api_key=api_key_id))

    @contextmanager
    def _under_way(self, work: str) -> Iterator[Callable[[Progress], None]]:
        """Let ``stats`` tell how far a long piece of work has come."""
        try:
            yield partial(self._parts.under_way.__setitem__, work)
        finally:
            self._parts.under_way.pop(work, None)

    def _note(self, action: str, **detail: Any) -> Note:
        return note_of(self._parts.ids(), self._actor, action, Scope(WHOLE_STORE), self._parts.clock(), **detail)
