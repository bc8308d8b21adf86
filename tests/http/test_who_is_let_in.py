"""Every route, asked without an API key, with a wrong one, another tenant's, the own and the operator's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from starlette.routing import Route

from rememberd.model import Job
from rememberd.ports.jobs import Enqueue

from .conftest import OWNER_TOKEN, House

if TYPE_CHECKING:
    from collections.abc import Callable

CALLERS = ("nobody", "stranger", "neighbour", "tenant", "operator")

STORE_CANNOT = 501  # the caller may

OF_TENANT = (401, 401, 403, "ok", "ok")
OF_OPERATOR = (401, 401, 403, 403, "ok")
OF_NOTHING = (401, 401, 403, 403, 404)  # the operator may, and it is not there
OF_EVERYONE = ("ok", "ok", "ok", "ok", "ok")


@dataclass(frozen=True)
class Things:
    """What requests can be about, fresh for each of them."""

    memory: str
    turn: str
    api_key: str
    job: str


def _body(**fields: Any) -> Callable[[Things], dict[str, Any]]:
    return lambda _: {"json": fields}


def _asked(**parameters: str) -> Callable[[Things], dict[str, Any]]:
    return lambda _: {"params": parameters}


MESSAGE = {"role": "user", "content": "你好"}
HERE = {"tenant": "acme"}

TABLE: dict[tuple[str, str], tuple[Callable[[Things], dict[str, Any]], tuple[int | str, ...]]] = {
    ("POST", "/v1/ingest"): (_body(**HERE, messages=[MESSAGE]), OF_TENANT),
    ("POST", "/v1/query"): (_body(**HERE, query="你好"), OF_TENANT),
    ("POST", "/v1/turns"): (_body(**HERE, message=MESSAGE), OF_TENANT),
    ("POST", "/v1/turns/{turn_id}/end"): (_body(**HERE), OF_TENANT),
    ("GET", "/v1/window"): (_asked(**HERE, thread="t"), OF_TENANT),
    ("GET", "/v1/history"): (_asked(**HERE), OF_TENANT),
    ("POST", "/v1/memories"): (_body(**HERE, text="Lin likes tea."), OF_TENANT),
    ("GET", "/v1/memories"): (_asked(**HERE), OF_TENANT),
    ("GET", "/v1/memories/{memory_id}"): (_asked(**HERE), OF_TENANT),
    ("PATCH", "/v1/memories/{memory_id}"): (lambda _: {"params": HERE, "json": {"topic": "tea"}}, OF_TENANT),
    ("DELETE", "/v1/memories/{memory_id}"): (_asked(**HERE), OF_TENANT),
    ("GET", "/v1/memories/{memory_id}/versions"): (_asked(**HERE), OF_TENANT),
    ("POST", "/v1/settle"): (_body(timeout=5), OF_OPERATOR),
    ("POST", "/v1/ops/query"): (_body(**HERE, query="你好"), OF_OPERATOR),
    ("GET", "/v1/ops/stats"): (_asked(**HERE), OF_OPERATOR),
    ("POST", "/v1/ops/rebuild"): (_body(view="index"), OF_OPERATOR),
    ("POST", "/v1/ops/backup"): (_asked(), OF_OPERATOR),
    ("GET", "/v1/ops/audit"): (_asked(**HERE), OF_OPERATOR),
    ("GET", "/v1/ops/jobs"): (_asked(), OF_OPERATOR),
    ("GET", "/v1/ops/jobs/{job_id}"): (_asked(), OF_OPERATOR),
    ("POST", "/v1/ops/jobs/{job_id}/cancel"): (_asked(), OF_OPERATOR),
    ("POST", "/v1/ops/jobs/{job_id}/retry"): (_asked(), (401, 401, 403, 403, 409)),
    ("GET", "/v1/ops/failures"): (_asked(), OF_OPERATOR),
    ("GET", "/v1/ops/failures/{failure_id}"): (_asked(), OF_NOTHING),
    ("POST", "/v1/ops/failures/replay"): (_asked(), OF_OPERATOR),
    ("POST", "/v1/ops/failures/{failure_id}/replay"): (_asked(), OF_NOTHING),
    ("DELETE", "/v1/ops/failures/{failure_id}"): (_asked(), OF_NOTHING),
    ("GET", "/v1/ops/lanes"): (_asked(), OF_OPERATOR),
    ("DELETE", "/v1/ops/lanes/{lane}/{model:path}"): (_asked(), OF_NOTHING),
    ("GET", "/v1/ops/doctor"): (_asked(), OF_OPERATOR),
    ("POST", "/v1/ops/api-keys"): (_body(tenant="acme"), OF_OPERATOR),
    ("GET", "/v1/ops/api-keys"): (_asked(), OF_OPERATOR),
    ("DELETE", "/v1/ops/api-keys/{api_key_id}"): (_asked(), OF_OPERATOR),
    ("GET", "/metrics"): (_asked(), OF_OPERATOR),
    ("GET", "/healthz"): (_asked(), OF_EVERYONE),
    ("GET", "/readyz"): (_asked(), OF_EVERYONE),
    ("GET", "/docs"): (_asked(), OF_EVERYONE),
    ("GET", "/docs/{file}"): (_asked(), OF_EVERYONE),
    ("GET", "/openapi.json"): (_asked(), OF_EVERYONE),
}


@pytest.fixture
def tokens(locked: House) -> dict[str, str | None]:
    operate = locked.engine.operate
    return {
        "nobody": None,
        "stranger": "rmd_000000000000_nothing",
        "neighbour": locked.run(operate.add_api_key("globex")).token,
        "tenant": locked.run(operate.add_api_key("acme")).token,
        "operator": locked.run(operate.add_api_key(None, operator=True)).token,
    }


def _fresh(house: House, operator: str | None) -> Things:
    memory = house.post("/v1/memories", {**HERE, "text": "Lin likes tea."}, token=operator).json()["id"]
    turn = house.post("/v1/turns", {**HERE, "message": MESSAGE}, token=operator).json()["id"]
    now = datetime.now(UTC)
    job = Job(id=f"job-{turn}", tenant="acme", task="nobody's", due_at=now, created_at=now)
    house.run(house.engine._parts.storage.write(Enqueue(job=job)))
    return Things(memory, turn, house.run(house.engine.operate.add_api_key("initech")).id, job.id)


def test_the_table_lists_every_route_of_the_app(locked: House) -> None:
    routes = {
        (method, route.path)
        for route in locked.app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert routes == set(TABLE)


@pytest.mark.parametrize(("method", "path"), TABLE)
def test_each_caller_is_answered_as_the_table_says(
    locked: House, tokens: dict[str, str | None], method: str, path: str
) -> None:
    request, expected = TABLE[method, path]
    for caller, status in zip(CALLERS, expected, strict=True):
        things = _fresh(locked, tokens["operator"])
        where = path.replace(":path", "").format(
            memory_id=things.memory, turn_id=things.turn, api_key_id=things.api_key, job_id=things.job,
            failure_id="none", lane="none", model="none", file="swagger-ui.css",
        )  # fmt: skip
        answer = locked.call(method, where, token=tokens[caller], **request(things))
        seen = "ok" if answer.is_success or answer.status_code == STORE_CANNOT else answer.status_code
        assert seen == status, f"{caller}: {answer.status_code} {answer.text}"


def test_an_api_key_may_come_in_its_own_header(locked: House, tokens: dict[str, str | None]) -> None:
    answer = locked.get("/v1/history", headers={"X-API-Key": str(tokens["tenant"])})
    assert answer.status_code == 200


def test_the_tenant_is_the_api_keys(locked: House, tokens: dict[str, str | None]) -> None:
    locked.post("/v1/ingest", {"thread": "t", "messages": [MESSAGE]}, token=tokens["tenant"])
    assert len(locked.get("/v1/history", token=tokens["tenant"]).json()["items"]) == 1
    assert locked.get("/v1/history", token=tokens["neighbour"]).json()["items"] == []
    in_acme = locked.get("/v1/history", params={"tenant": "acme"}, token=tokens["operator"]).json()["items"]
    assert [message["tenant"] for message in in_acme] == ["acme"]


def test_the_owners_token_is_an_operators(locked: House) -> None:
    assert locked.get("/v1/ops/stats", token=OWNER_TOKEN).status_code == 200


def test_a_revoked_api_key_lets_nobody_in(locked: House) -> None:
    made = locked.run(locked.engine.operate.add_api_key("acme"))
    locked.run(locked.engine.operate.revoke_api_key(made.id))
    refused = locked.get("/v1/history", token=made.token)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")


def test_api_keys_are_listed_without_what_they_are_made_of(locked: House, tokens: dict[str, str | None]) -> None:
    listed = locked.get("/v1/ops/api-keys", token=tokens["operator"]).json()["items"]
    assert len(listed) == 3
    assert all(set(api_key) == {"id", "tenant", "operator", "created_at", "revoked_at"} for api_key in listed)
