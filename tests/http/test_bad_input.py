"""What is wrong is refused whole, as a problem that names every fault; nothing of it is stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .conftest import House

PROBLEM = {"type", "title", "status", "detail", "instance", "code", "retryable", "errors"}
GOOD = {"role": "user", "content": "hello"}


def _ingest(**message: Any) -> bytes:
    return json.dumps({"thread": "t", "messages": [GOOD, {**GOOD, **message}]}).encode()


def _nested(depth: int) -> Any:
    return {"a": _nested(depth - 1)} if depth else "end"


BAD_BODIES: dict[str, tuple[bytes, int, str | None]] = {
    "nothing at all": (b"", 422, ""),
    "no JSON": (b"{", 422, ""),
    "more than JSON": (b'{"messages": []} x', 422, ""),
    "a list": (b"[]", 422, ""),
    "null": (b"null", 422, ""),
    "no messages": (b'{"messages": []}', 422, "/messages"),
    "no role": (b'{"messages": [{"content": "x"}]}', 422, "/messages/0/role"),
    "an empty message": (_ingest(content=""), 422, "/messages/1/content"),
    "a blank message": (_ingest(content="  \n"), 422, "/messages/1/content"),
    "a number as content": (_ingest(content=5), 422, "/messages/1/content"),
    "an unknown role": (_ingest(role="wizard"), 422, "/messages/1/role"),
    "an unknown field": (_ingest(contents="x"), 422, "/messages/1/contents"),
    "an unknown field above": (b'{"messagez": [], "messages": [{"role": "user", "content": "x"}]}', 422, "/messagez"),
    "no time": (_ingest(at="yesterday"), 422, "/messages/1/at"),
    "a number as time": (_ingest(at=1763193600), 422, "/messages/1/at"),
    "digits as time": (_ingest(at="1763193600"), 422, "/messages/1/at"),
    "a time that never was": (_ingest(at="2026-02-30T00:00:00Z"), 422, "/messages/1/at"),
    "a time out of range": (_ingest(at="0001-01-01T00:00:00+14:00"), 422, "/messages/1/at"),
    "metadata that is a list": (_ingest(metadata=[]), 422, "/messages/1/metadata"),
    "metadata nested deeply": (_ingest(metadata=_nested(40)), 422, "/messages/1/metadata"),
    "metadata nested without end": (_ingest(metadata=_nested(400)), 422, ""),
    "NaN": (_ingest(metadata={"x": float("nan")}), 422, "/messages/1/metadata"),
    "a number without end": (_ingest().replace(b'"hello"}]', b'"hello", "metadata": {"x": 1e999}}]'), 422, None),
    "a huge integer": (_ingest(metadata={"x": 10**30}), 422, "/messages/1/metadata"),
    "a lone surrogate": (_ingest(content="\ud800"), 422, ""),
    "a lone surrogate in an id": (b'{"user": "\\udfff", "messages": [{"role": "user", "content": "x"}]}', 422, ""),
    "a lone surrogate in metadata": (_ingest(metadata={"x": "\ud800"}), 422, ""),
    "NUL": (_ingest(content="a\0b"), 422, "/messages/1/content"),
    "NUL in an id": (b'{"user": "a\\u0000", "messages": [{"role": "user", "content": "x"}]}', 422, "/user"),
    "NUL in metadata": (_ingest(metadata={"x": ["\0"]}), 422, "/messages/1/metadata"),
    "NUL in a key of metadata": (_ingest(metadata={"\0": 1}), 422, "/messages/1/metadata"),
    "invalid UTF-8": (_ingest().replace(b"hello", b"\xff\xfe"), 422, ""),
    "an empty id": (b'{"user": "", "messages": [{"role": "user", "content": "x"}]}', 422, "/user"),
    "a long id": (b'{"user": "%s", "messages": [{"role": "user", "content": "x"}]}' % (b"x" * 5000), 422, "/user"),
    "a huge message": (_ingest(content="x" * 2_000_000), 422, "/messages/1/content"),
    "a huge body": (_ingest(content="x" * 9_000_000), 413, ""),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_a_clear_problem_and_nothing_is_stored(house: House, name: str) -> None:
    body, status, pointer = BAD_BODIES[name]
    answer = house.raw("/v1/ingest", body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert set(problem) == PROBLEM
    assert problem["errors"]
    if pointer is not None:
        assert pointer in [fault["pointer"] for fault in problem["errors"]], problem["errors"]
    assert house.get("/v1/history").json()["items"] == []


BAD_QUERIES: dict[str, tuple[dict[str, Any], str]] = {
    "a negative k": ({"k": -1}, "/k"),
    "no k": ({"k": 0}, "/k"),
    "k as a string": ({"k": "10"}, "/k"),
    "k as a truth": ({"k": True}, "/k"),
    "a fraction of k": ({"k": 1.5}, "/k"),
    "too large a k": ({"k": 1001}, "/k"),
    "a negative budget": ({"budget": -1}, "/budget"),
    "an empty question": ({"query": ""}, "/query"),
    "a number as question": ({"query": 7}, "/query"),
    "an unknown field": ({"top_k": 3}, "/top_k"),
    "an unknown filter": ({"filters": {"colour": "red"}}, "/filters/colour"),
    "an operator in a filter": ({"filters": {"kind": {"$ne": "fact"}}}, "/filters/kind"),
    "a number in a filter": ({"filters": {"topic": 5}}, "/filters/topic"),
    "an empty list in a filter": ({"filters": {"topic": []}}, "/filters/topic"),
    "no time in a filter": ({"filters": {"after": "soon"}}, "/filters/after"),
    "metadata without a key": ({"filters": {"metadata.": "x"}}, "/filters/metadata."),
    "filters that are a list": ({"filters": ["kind"]}, "/filters"),
    "an unknown time zone": ({"timezone": "Mars/Olympus"}, "/timezone"),
    "a path as time zone": ({"timezone": "../../etc/passwd"}, "/timezone"),
    "a floor below the ground": ({"floor": -0.1}, "/floor"),
    "explain as a word": ({"explain": "yes"}, "/explain"),
    "NUL in the question": ({"query": "a\0"}, "/query"),
}


@pytest.mark.parametrize("path", ["/v1/query", "/v1/ops/query"])
@pytest.mark.parametrize("name", BAD_QUERIES)
def test_a_bad_query_names_its_fault(house: House, name: str, path: str) -> None:
    fields, pointer = BAD_QUERIES[name]
    answer = house.post(path, {"query": "tea", **fields})
    assert answer.status_code == 422, answer.text
    assert pointer in [fault["pointer"] for fault in answer.json()["errors"]], answer.text


BAD_PARAMETERS: dict[str, tuple[str, str]] = {
    "an unknown parameter": ("/v1/history?colour=red", "/colour"),
    "an unknown parameter where there are none": ("/v1/ops/doctor?x=1", "/x"),
    "a parameter twice": ("/v1/history?limit=1&limit=2", "/limit"),
    "no limit": ("/v1/history?limit=0", "/limit"),
    "a negative limit": ("/v1/history?limit=-1", "/limit"),
    "too large a limit": ("/v1/history?limit=1001", "/limit"),
    "a word as limit": ("/v1/history?limit=ten", "/limit"),
    "a fraction as limit": ("/v1/history?limit=1.0", "/limit"),
    "an endless limit": (f"/v1/history?limit={'9' * 5000}", "/limit"),
    "an unknown order": ("/v1/history?order=random", "/order"),
    "a bad cursor": ("/v1/history?after=!!!", "/after"),
    "a made-up cursor": ("/v1/history?after=MTIz", "/after"),
    "an empty user": ("/v1/history?user=", "/user"),
    "NUL in a user": ("/v1/history?user=a%00", "/user"),
    "invalid UTF-8": ("/v1/history?user=%ff", ""),
    "a lone surrogate": ("/v1/history?user=%ed%a0%80", ""),
    "a window without a thread": ("/v1/window", "/thread"),
    "resume as a number": ("/v1/window?thread=t&resume=1", "/resume"),
    "a bad cursor of memories": ("/v1/memories?after=xyz", "/after"),
    "an unknown filter of memories": ("/v1/memories?colour=red", "/colour"),
    "no time in a filter of memories": ("/v1/memories?filter.after=soon", "/filter.after"),
    "an unknown state of jobs": ("/v1/ops/jobs?state=lost", "/state"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_a_bad_parameter_is_named(house: House, name: str) -> None:
    path, pointer = BAD_PARAMETERS[name]
    answer = house.get(path)
    assert answer.status_code == 422, answer.text
    assert pointer in [fault["pointer"] for fault in answer.json()["errors"]], answer.text


def test_every_fault_of_a_request_is_named_at_once(house: House) -> None:
    body = {"usr": "x", "messages": [{"role": "x", "content": 1}, {"content": "fine"}, {**GOOD, "at": "never"}]}
    faults = {fault["pointer"] for fault in house.post("/v1/ingest", body).json()["errors"]}
    assert faults == {"/usr", "/messages/0/role", "/messages/0/content", "/messages/1/role", "/messages/2/at"}


def test_faults_of_a_flat_message_point_into_it(house: House) -> None:
    answer = house.post("/v1/ingest", {"session_id": "t", "role": "user", "content": "\0"})
    assert [fault["pointer"] for fault in answer.json()["errors"]] == ["/content"]


def test_another_tenants_cursor_is_refused(house: House) -> None:
    for tenant in ("acme", "globex"):
        for content in ("one", "two"):
            house.post("/v1/ingest", {"tenant": tenant, "thread": "t", "messages": [{**GOOD, "content": content}]})
    cursor = house.get("/v1/history", params={"tenant": "acme", "limit": "1"}).json()["next"]
    assert house.get("/v1/history", params={"tenant": "acme", "after": cursor}).status_code == 200
    stolen = house.get("/v1/history", params={"tenant": "globex", "after": cursor})
    assert (stolen.status_code, stolen.json()["errors"][0]["pointer"]) == (422, "/after")


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_body_that_is_not_sent_as_json_is_refused(house: House, media_type: str) -> None:
    answer = house.raw("/v1/ingest", _ingest(), media_type)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_a_body_of_unknown_length_is_refused_once_it_is_too_large(house: House) -> None:
    async def endless() -> Any:
        for _ in range(100):
            yield b"x" * 1_000_000

    answer = house.call("POST", "/v1/ingest", content=endless(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize("etag", ["3", '"x"', '"1", "2"', 'W/"1"'])
def test_an_etag_that_we_never_answered_is_refused(house: House, etag: str) -> None:
    answer = house.call("DELETE", "/v1/memories/x", headers={"If-Match": etag})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/if_match")


def test_null_does_not_change_a_field_in_silence(house: House) -> None:
    made = house.post("/v1/memories", {"text": "tea", "topic": "drinks"}).json()
    answer = house.call("PATCH", f"/v1/memories/{made['id']}", json={"topic": None})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/topic")
