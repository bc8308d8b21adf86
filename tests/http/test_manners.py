"""What any client may expect of any route: ids, ETags, methods, hosts, pages, and a log that keeps secrets."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from rememberd.server import Gate

from .conftest import House

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAID = {"thread": "t", "messages": [{"role": "user", "content": "tea"}, {"role": "assistant", "content": "coffee"}]}


@pytest.fixture
def at_home(tmp_path: Path) -> Iterator[House]:
    house = House(Gate(keyless=True, hosts=frozenset(("localhost", "127.0.0.1", "::1"))), "folder", tmp_path)
    yield house
    house.close()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7077", "127.0.0.1:80", "[::1]:7077"])
def test_our_own_names_are_answered(at_home: House, host: str) -> None:
    assert at_home.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""])
@pytest.mark.parametrize("path", ["/healthz", "/v1/history", "/nowhere"])
def test_other_names_are_not(at_home: House, path: str, host: str) -> None:
    answer = at_home.get(path, headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")


def test_an_unknown_path_is_a_problem(house: House) -> None:
    answer = house.get("/v1/nowhere")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.headers["content-type"] == "application/problem+json"


def test_another_method_is_a_problem_that_names_the_right_ones(house: House) -> None:
    answer = house.call("PUT", "/v1/memories")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"


def test_options_names_the_methods_of_a_path(house: House) -> None:
    answer = house.call("OPTIONS", "/v1/memories/x")
    assert (answer.status_code, answer.headers["allow"]) == (204, "DELETE, GET, HEAD, OPTIONS, PATCH")


def test_head_is_get_without_the_body(house: House) -> None:
    answer = house.call("HEAD", "/healthz")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(len(house.get("/healthz").content))


def test_a_request_keeps_the_id_it_came_with(house: House) -> None:
    answer = house.get("/v1/nowhere", headers={"X-Request-Id": "abc-1"})
    assert (answer.headers["x-request-id"], answer.json()["instance"]) == ("abc-1", "abc-1")
    forged = house.get("/v1/nowhere", headers={"X-Request-Id": "a b\t"})
    assert forged.headers["x-request-id"] == forged.json()["instance"] != "a b"


def test_a_revision_is_checked_where_if_match_asks_for_it(house: House) -> None:
    made = house.post("/v1/memories", {"text": "tea", "topic": "drinks"})
    path = f"/v1/memories/{made.json()['id']}"
    assert (made.status_code, made.headers["etag"], made.headers["location"]) == (201, '"1"', path)
    revised = house.call("PATCH", path, json={"text": "green tea"}, headers={"If-Match": '"1"'})
    assert (revised.status_code, revised.headers["etag"]) == (200, '"2"')
    stale = house.call("PATCH", path, json={"text": "black tea"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "stale_revision")
    assert [item["text"] for item in house.get(f"{path}/versions").json()["items"]] == ["tea", "green tea"]
    assert house.call("DELETE", path, headers={"If-Match": '"1"'}).status_code == 412
    assert house.call("DELETE", path, headers={"If-Match": '"2"'}).status_code == 204
    assert house.get(path).status_code == 404


def test_what_is_held_already_is_answered_with_200_and_its_next_revision(house: House) -> None:
    made = house.post("/v1/memories", {"text": "Lin likes tea.", "user": "lin"})
    again = house.post("/v1/memories", {"text": "lin likes tea", "user": "lin"})
    assert (made.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == made.json()["id"]
    assert (again.headers["etag"], again.headers["location"]) == ('"2"', made.headers["location"])


def test_a_list_is_read_page_by_page(house: House) -> None:
    for number in range(5):
        house.post("/v1/memories", {"text": f"fact {number}", "topic": "even" if number % 2 == 0 else "odd"})
    seen, cursor = [], None
    while True:
        page = house.get("/v1/memories", params={"limit": "2"} | ({"after": cursor} if cursor else {})).json()
        assert set(page) == {"items", "next"}
        seen += [item["text"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [f"fact {number}" for number in (4, 3, 2, 1, 0)]


def test_filters_of_a_list_are_parameters(house: House) -> None:
    house.post("/v1/memories", {"text": "one", "topic": "x", "kind": "fact", "metadata": {"lang": "zh"}})
    house.post("/v1/memories", {"text": "two", "topic": "y", "kind": "note", "agent": "planner"})
    found = {
        query: [item["text"] for item in house.get(f"/v1/memories?{query}").json()["items"]]
        for query in (
            "topic=x",
            "kind=note&agent=planner",
            "topic=x&topic=z",
            "metadata.lang=zh",
            "metadata.lang=en",
            "agent=planner&filter.agent=planner",
            "filter.before=2000-01-01T00:00:00Z",
        )
    }
    assert list(found.values()) == [["one"], ["two"], ["one"], ["one"], [], ["two"], []]


def test_rebuild_tells_how_far_it_has_come(house: House) -> None:
    house.post("/v1/ingest", SAID)
    answer = house.post("/v1/ops/rebuild")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    steps = [json.loads(line) for line in answer.text.splitlines()]
    assert steps[-1]["done"] == steps[-1]["total"]


def test_readiness_says_what_is_missing(house: House) -> None:
    answer = house.get("/readyz").json()
    assert set(answer) == {"status", "degraded"}
    assert answer["status"] == ("degraded" if answer["degraded"] else "ok")


def test_metrics_are_prometheus_text(house: House) -> None:
    house.post("/v1/ingest", SAID)
    answer = house.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "rememberd_messages_recorded_total" in answer.text


def test_the_access_log_has_the_route_and_no_content(house: House, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="rememberd"):
        house.post("/v1/ingest", {"user": "secret-user", "thread": "secret-thread", **SAID, "metadata": "secret"})
        made = house.post("/v1/memories", {"text": "secret tea"}).json()
        house.get(f"/v1/memories/{made['id']}", params={"user": "secret-user"})
    fields = [vars(record)["fields"] for record in caplog.records if record.message == "request"]
    assert [(entry["method"], entry["route"], entry["status"]) for entry in fields] == [
        ("POST", "/v1/ingest", 422),
        ("POST", "/v1/memories", 201),
        ("GET", "/v1/memories/{memory_id}", 200),
    ]
    assert "secret" not in str([vars(record) for record in caplog.records])


def test_what_nobody_foresaw_is_a_problem_without_details(
    house: House, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr(house.engine, "ready", broken)
    answer = house.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (500, "unexpected")
    assert "secret" not in answer.text
    [record] = [record for record in caplog.records if record.message == "unexpected"]
    fields = vars(record)["fields"]
    assert (fields["error"], fields["request_id"]) == ("ZeroDivisionError", answer.json()["instance"])
    assert "secret" not in str(vars(record))
