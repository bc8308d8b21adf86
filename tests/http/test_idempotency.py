"""A retry is harmless; the status says what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .conftest import House

SAID = {"thread": "t", "messages": [{"role": "user", "content": "one"}, {"role": "agent", "content": "two"}]}


def _ingest(house: House, body: Any, key: str | None = None) -> tuple[int, Any]:
    answer = house.post("/v1/ingest", body, headers={} if key is None else {"Idempotency-Key": key})
    return answer.status_code, answer.json()


def test_the_same_key_twice_is_one_message(house: House) -> None:
    first_status, first = _ingest(house, SAID, "k")
    second_status, second = _ingest(house, SAID, "k")
    assert (first_status, second_status) == (201, 200)
    assert [receipt["status"] for receipt in second["receipts"]] == ["duplicate", "duplicate"]
    assert [receipt["id"] for receipt in second["receipts"]] == [receipt["id"] for receipt in first["receipts"]]
    assert len(house.get("/v1/history").json()["items"]) == 2


def test_the_same_key_with_another_body_is_a_conflict(house: House) -> None:
    _ingest(house, SAID, "k")
    other = {"thread": "t", "messages": [{"role": "user", "content": "three"}]}
    status, problem = _ingest(house, other, "k")
    assert (status, problem["code"], problem["retryable"]) == (409, "idempotency_conflict", False)
    assert len(house.get("/v1/history").json()["items"]) == 2


def test_without_a_key_twice_is_twice(house: House) -> None:
    assert [_ingest(house, SAID)[0], _ingest(house, SAID)[0]] == [201, 201]
    assert len(house.get("/v1/history").json()["items"]) == 4


def test_some_new_among_the_known_is_created(house: House) -> None:
    _ingest(house, {"thread": "t", "messages": [{"role": "user", "content": "one", "idempotency_key": "a"}]})
    status, answer = _ingest(
        house,
        {
            "thread": "t",
            "messages": [
                {"role": "user", "content": "one", "idempotency_key": "a"},
                {"role": "user", "content": "two", "idempotency_key": "b"},
            ],
        },
    )
    assert status == 201
    assert [receipt["status"] for receipt in answer["receipts"]] == ["duplicate", "recorded"]


def test_a_retry_gets_the_thread_that_was_made_up_first(house: House) -> None:
    body = {"messages": [{"role": "user", "content": "one"}]}
    assert _ingest(house, body, "k")[1]["thread"] == _ingest(house, body, "k")[1]["thread"]


def test_keys_are_a_tenants_own(house: House) -> None:
    assert [_ingest(house, {**SAID, "tenant": tenant}, "k")[0] for tenant in ("acme", "globex")] == [201, 201]


def test_a_key_may_be_chinese(house: House) -> None:
    key = "订单-1".encode()
    for status in (201, 200):
        answer = house.call("POST", "/v1/ingest", json=SAID, headers={b"Idempotency-Key": key})
        assert answer.status_code == status


@pytest.mark.parametrize("key", ["", "x" * 300])
def test_a_key_must_be_one(house: House, key: str) -> None:
    status, problem = _ingest(house, SAID, key)
    assert (status, problem["errors"][0]["pointer"]) == (422, "/idempotency_key")


def test_a_memory_is_added_once(house: House) -> None:
    made = [house.post("/v1/memories", {"text": "tea"}, headers={"Idempotency-Key": "k"}).json() for _ in range(2)]
    assert made[0]["id"] == made[1]["id"]
    assert len(house.get("/v1/memories").json()["items"]) == 1


def test_a_flat_message_is_a_message(house: House) -> None:
    flat = {"namespace": "acme", "conversation_id": "c", "customer_id": "lin", "role": "agent", "content": "你好"}
    status, answer = _ingest(house, flat)
    assert (status, answer["thread"]) == (201, "c")
    [said] = house.get("/v1/history", params={"tenant": "acme", "user": "lin"}).json()["items"]
    assert (said["role"], said["content"], said["thread"]) == ("assistant", "你好", "c")
