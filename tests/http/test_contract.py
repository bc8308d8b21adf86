"""The OpenAPI document tells the truth: its examples work, and no answer comes that it does not announce."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

if TYPE_CHECKING:
    from .conftest import House, Served

REQUESTS = 2000
A_ROUND = 42
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.mark.slow
def test_schemathesis_finds_nothing(served: Served) -> None:
    schema = schemathesis.openapi.from_dict(served.app.openapi())
    operations = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    assert len(operations) == len(list(schema.get_all_operations()))
    asked = 0
    with requests.Session() as session:
        for attempt in itertools.count():
            for mode, operation in itertools.product(GenerationMode, operations):
                if attempt and asked >= REQUESTS:
                    return
                asked += _try(operation, mode, attempt, served.url, session)


def _try(operation: Any, mode: GenerationMode, attempt: int, url: str, session: requests.Session) -> int:
    """Ask one operation a number of times; how many times it was."""
    asked = 0

    @seed(attempt)
    @settings(
        max_examples=A_ROUND,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        nonlocal asked
        asked += 1
        case.call_and_validate(base_url=url, session=session, checks=CHECKS)

    try:
        ask()
    except Unsatisfiable:  # there is no wrong way to ask an operation that takes nothing
        return 0
    return asked


def _examples(document: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    schemas = document["components"]["schemas"]
    found: dict[str, tuple[str, Any]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            for form in body.get("oneOf") or body.get("anyOf") or [body]:
                name = form.get("$ref", "").rpartition("/")[2]
                for example in schemas.get(name, {}).get("examples", []):
                    found[f"{method.upper()} {path} {name} {len(found)}"] = (f"{method.upper()} {path}", example)
    return found


def test_every_example_works(house: House) -> None:
    document = house.get("/openapi.json").json()
    examples = _examples(document)
    bodies = [o for methods in document["paths"].values() for o in methods.values() if "requestBody" in o]
    assert len({where for where, _ in examples.values()}) == len(bodies)
    memory = house.post("/v1/memories", {"text": "tea"}).json()["id"]
    turn = house.post("/v1/turns", {"user": "lin", "message": {"role": "user", "content": "hi"}}).json()["id"]
    for where, example in examples.values():
        method, _, path = where.partition(" ")
        answer = house.call(method, path.format(memory_id=memory, turn_id=turn), json=example)
        assert answer.is_success, f"{where}: {answer.text}"


def test_every_operation_announces_its_problems(house: House) -> None:
    for path, methods in house.get("/openapi.json").json()["paths"].items():
        for method, operation in methods.items():
            refusals = {status: r for status, r in operation["responses"].items() if status >= "400"}
            assert {"403", "422", "500", "503"} <= set(refusals), (method, path)
            assert all(list(refusal["content"]) == ["application/problem+json"] for refusal in refusals.values())
