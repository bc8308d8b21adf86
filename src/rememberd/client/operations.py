"""The operator's verbs on a server elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from rememberd.errors import NotFound, RememberdError
from rememberd.model import (
    ApiKey,
    AuditEntry,
    Diagnosis,
    Failure,
    Job,
    LaneProgress,
    NewApiKey,
    Page,
    Progress,
    Settled,
    Stats,
)
from rememberd.operate.backup import keep
from rememberd.ports.backups import Piece

from .failures import error_of_problem
from .sending import page_parameters, query_fields
from .wire import DroppedLane, Problem, QueryAnswer, Replayed, ShownApiKey, context_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from rememberd.model import Context, FailureState, JobState, Query
    from rememberd.verbs import View

    from .connection import Connection

_answer = msgspec.json.Decoder(QueryAnswer).decode
_stats = msgspec.json.Decoder(Stats).decode
_settled = msgspec.json.Decoder(Settled).decode
_audit = msgspec.json.Decoder(Page[AuditEntry]).decode
_jobs = msgspec.json.Decoder(Page[Job]).decode
_failures = msgspec.json.Decoder(Page[Failure]).decode
_failure = msgspec.json.Decoder(Failure).decode
_replayed = msgspec.json.Decoder(Replayed).decode
_lanes = msgspec.json.Decoder(Page[LaneProgress]).decode
_dropped = msgspec.json.Decoder(DroppedLane).decode
_job = msgspec.json.Decoder(Job).decode
_diagnosis = msgspec.json.Decoder(Diagnosis).decode
_new_api_key = msgspec.json.Decoder(NewApiKey).decode
_api_keys = msgspec.json.Decoder(Page[ShownApiKey]).decode

#: What takes long may take that.
_LONG = 600.0

#: How much longer than a call's own time-out its answer may take.
_GRACE = 15.0


class RemoteOperations:
    def __init__(self, server: Connection) -> None:
        self._server = server

    async def query(self, tenant: str, query: Query) -> Context:
        body = {"tenant": tenant, **query_fields(query)}
        return context_of(_answer(await self._server.post("/v1/ops/query", body, repeatable=True)))

    async def stats(self, tenant: str | None = None) -> Stats:
        return _stats(await self._server.get("/v1/ops/stats", _tenant(tenant)))

    async def settle(self, timeout: float = 30.0) -> Settled:
        body = {"timeout": timeout}
        return _settled(await self._server.post("/v1/settle", body, repeatable=True, timeout=timeout + _GRACE))

    async def rebuild(self, view: View = "index", *, verify: bool = False) -> AsyncIterator[Progress]:
        async with self._server.lines("/v1/ops/rebuild", {"view": view, "verify": verify}) as lines:
            async for line in lines:
                yield _progress(line)

    def backup(self, file: Path | str) -> AsyncIterator[Progress]:
        return keep(self.backup_pieces(), Path(file))

    async def backup_pieces(self) -> AsyncGenerator[Piece, None]:
        """How much there is to come is not known here."""
        done = 0
        async with self._server.chunks("/v1/ops/backup", {}) as chunks:
            async for chunk in chunks:
                done += len(chunk)
                yield Piece(chunk, Progress(done, 0))

    async def audit(self, tenant: str | None = None, *, after: str | None = None, limit: int = 50) -> Page[AuditEntry]:
        return _audit(await self._server.get("/v1/ops/audit", [*_tenant(tenant), *page_parameters(after, limit)]))

    async def jobs(self, state: JobState | None = None, limit: int = 50) -> tuple[Job, ...]:
        asked = [*page_parameters(None, limit), *([] if state is None else [("state", state)])]
        return _jobs(await self._server.get("/v1/ops/jobs", asked)).items

    async def failures(
        self, state: FailureState | None = None, *, after: str | None = None, limit: int = 50
    ) -> Page[Failure]:
        asked = [*page_parameters(after, limit), *([] if state is None else [("state", state)])]
        return _failures(await self._server.get("/v1/ops/failures", asked))

    async def failure(self, failure_id: str) -> Failure:
        return _failure(await self._server.get(f"/v1/ops/failures/{quote(failure_id, safe='')}"))

    async def replay_failures(self, failure_id: str | None = None) -> int:
        one = "" if failure_id is None else f"/{quote(failure_id, safe='')}"
        return _replayed(await self._server.post(f"/v1/ops/failures{one}/replay", {})).replayed

    async def discard_failure(self, failure_id: str) -> bool:
        try:
            await self._server.delete(f"/v1/ops/failures/{quote(failure_id, safe='')}")
        except NotFound:
            return False
        return True

    async def job(self, job_id: str) -> Job:
        return _job(await self._server.get(_path_of(job_id)))

    async def retry_job(self, job_id: str) -> Job:
        return _job(await self._server.post(f"{_path_of(job_id)}/retry", {}))

    async def cancel_job(self, job_id: str) -> Job:
        return _job(await self._server.post(f"{_path_of(job_id)}/cancel", {}))

    async def doctor(self) -> Diagnosis:
        return _diagnosis(await self._server.get("/v1/ops/doctor"))

    async def lanes(self) -> tuple[LaneProgress, ...]:
        return _lanes(await self._server.get("/v1/ops/lanes")).items

    async def drop_lane(self, lane: str, model: str) -> int:
        path = f"/v1/ops/lanes/{quote(lane, safe='')}/{quote(model, safe='')}"
        return _dropped(await self._server.delete(path, timeout=_LONG)).dropped

    async def add_api_key(self, tenant: str | None, *, operator: bool = False) -> NewApiKey:
        body = {"tenant": tenant, "operator": operator}
        return _new_api_key(await self._server.post("/v1/ops/api-keys", body))

    async def api_keys(self) -> tuple[ApiKey, ...]:
        """All of them; their digests stay at home."""
        shown = _api_keys(await self._server.get("/v1/ops/api-keys")).items
        return tuple(
            ApiKey(
                id=api_key.id,
                digest="",
                tenant=api_key.tenant,
                operator=api_key.operator,
                created_at=api_key.created_at,
                revoked_at=api_key.revoked_at,
            )
            for api_key in shown
        )

    async def revoke_api_key(self, api_key_id: str) -> bool:
        try:
            await self._server.delete(f"/v1/ops/api-keys/{quote(api_key_id, safe='')}")
        except NotFound:
            return False
        return True


def _tenant(tenant: str | None) -> list[tuple[str, str]]:
    return [] if tenant is None else [("tenant", tenant)]


def _path_of(job_id: str) -> str:
    return f"/v1/ops/jobs/{quote(job_id, safe='')}"


def _progress(line: str) -> Progress:
    """A line of a long answer. Raises the error that a last line tells of."""
    said: dict[str, Any] = msgspec.json.decode(line)
    if "code" in said:
        raise _error(said)
    return Progress(**said)


def _error(said: dict[str, Any]) -> RememberdError:
    return error_of_problem(msgspec.convert(said, Problem))
