"""An embeddings endpoint, and everything that goes wrong with one; spoken to over HTTP on this machine."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rememberd.errors import ModelUnavailable, RememberdError, SettingsError
from rememberd.ports.models import space_of
from rememberd.providers import openai
from rememberd.providers.openai import OpenAIEmbedder
from rememberd.wiring import open_reference
from rememberd.wiring.embedding import revive
from tests.conftest import Store, plain_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Answer = tuple[int, dict[str, str], bytes]


def vectors(texts: list[str], dimension: int = 3) -> Answer:
    """As an endpoint answers, in any order."""
    data = [
        {"object": "embedding", "index": i, "embedding": [len(t), 1.0, 0.0][:dimension]} for i, t in enumerate(texts)
    ]
    return 200, {}, json.dumps({"object": "list", "data": data[::-1], "model": "m", "usage": {}}).encode()


@dataclass
class Endpoint:
    """Answers what ``script`` says, one entry a request, and then as it should."""

    url: str = ""
    script: list[Callable[[list[str]], Answer]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.asked.append({"path": self.path, **body})
            made.headers.append(dict(self.headers))
            status, headers, content = (made.script.pop(0) if made.script else vectors)(body["input"])
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            with suppress(BrokenPipeError):  # who waited too long is gone
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name there
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
        thread.start()
        made.url = f"http://127.0.0.1:{server.server_port}/v1/"
        yield made
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "_FIRST_PAUSE", 0.01)


def embed(endpoint: Endpoint, *texts: str, dimension: int = 3, timeout: float = 5.0) -> list[bytes]:
    async def ask() -> list[bytes]:
        embedder = OpenAIEmbedder(endpoint.url, "m", dimension, "secret", timeout=timeout)
        try:
            return await embedder.embed(texts)
        finally:
            await embedder.close()

    return asyncio.run(ask())


def refuse(status: int, **headers: str) -> Callable[[list[str]], Answer]:
    return lambda texts: (status, {name.replace("_", "-"): value for name, value in headers.items()}, b"{}")


def say(body: bytes) -> Callable[[list[str]], Answer]:
    return lambda texts: (200, {}, body)


def test_vectors_come_in_the_order_of_the_texts_as_units(endpoint: Endpoint) -> None:
    made = [np.frombuffer(vector, "<f4") for vector in embed(endpoint, "a", "four")]
    assert made[0] == pytest.approx(np.array([1, 1, 0]) / np.sqrt(2))
    assert made[1] == pytest.approx(np.array([4, 1, 0]) / np.sqrt(17))
    [asked] = endpoint.asked
    assert (asked["path"], asked["model"], asked["input"]) == ("/v1/embeddings", "m", ["a", "four"])
    assert endpoint.headers[0]["Authorization"] == "Bearer secret"


def test_nothing_to_embed_asks_nobody(endpoint: Endpoint) -> None:
    assert embed(endpoint) == []
    assert endpoint.asked == []


def test_too_many_requests_are_tried_again_when_the_server_says(endpoint: Endpoint) -> None:
    endpoint.script = [refuse(429, Retry_After="0.3")]
    began = time.monotonic()
    assert embed(endpoint, "a")
    assert time.monotonic() - began >= 0.3


def test_a_long_wait_is_left_to_later(endpoint: Endpoint) -> None:
    endpoint.script = [refuse(429, Retry_After="3600")]
    with pytest.raises(ModelUnavailable, match="answered 429"):
        embed(endpoint, "a")
    assert len(endpoint.asked) == 1


def test_a_failing_server_is_tried_three_times(endpoint: Endpoint) -> None:
    endpoint.script = [refuse(503), refuse(500)]
    assert embed(endpoint, "a")
    endpoint.script = [refuse(503)] * 3
    with pytest.raises(ModelUnavailable, match="answered 503"):
        embed(endpoint, "a")
    assert len(endpoint.asked) == 6


def test_a_refusal_is_not_repeated(endpoint: Endpoint) -> None:
    endpoint.script = [refuse(401)]
    with pytest.raises(ModelUnavailable, match="answered 401"):
        embed(endpoint, "a")
    assert len(endpoint.asked) == 1


def test_a_server_that_takes_too_long_is_given_up(endpoint: Endpoint) -> None:
    def slowly(texts: list[str]) -> Answer:
        time.sleep(0.5)
        return vectors(texts)

    endpoint.script = [slowly] * 3
    with pytest.raises(ModelUnavailable, match="does not answer"):
        embed(endpoint, "a", timeout=0.1)


def test_a_server_that_is_not_there_is_reported() -> None:
    with pytest.raises(ModelUnavailable, match="does not answer"):
        embed(Endpoint("http://127.0.0.1:9"), "a")


@pytest.mark.parametrize(
    "body", [b"<html>", b"{}", b'{"data": [{"index": 0, "embedding": "AAAA"}]}', b'{"data": [null]}', b""]
)
def test_what_is_no_answer_is_reported(endpoint: Endpoint, body: bytes) -> None:
    endpoint.script = [say(body)]
    with pytest.raises(ModelUnavailable, match="something else than vectors"):
        embed(endpoint, "a")


@pytest.mark.parametrize("data", [[], [{"index": 1, "embedding": [1, 0, 0]}]])
def test_a_missing_vector_is_reported(endpoint: Endpoint, data: list[Any]) -> None:
    endpoint.script = [say(json.dumps({"data": data}).encode())]
    with pytest.raises(ModelUnavailable, match="vectors for 1 texts"):
        embed(endpoint, "a")


def test_a_vector_of_zeros_is_refused(endpoint: Endpoint) -> None:
    endpoint.script = [say(b'{"data": [{"index": 0, "embedding": [0, 0, 0]}]}')]
    with pytest.raises(ModelUnavailable, match="without a direction"):
        embed(endpoint, "a")


def test_another_dimension_is_an_error_of_the_settings(endpoint: Endpoint) -> None:
    with pytest.raises(SettingsError, match=r"models\.dimension is 4, but m makes vectors of 3"):
        embed(endpoint, "a", dimension=4)


def test_after_a_failure_the_endpoint_is_left_alone_for_a_while(endpoint: Endpoint) -> None:
    async def story() -> None:
        embedder = OpenAIEmbedder(endpoint.url, "m", 3)
        endpoint.script = [refuse(401)]
        for _ in range(3):
            with pytest.raises(ModelUnavailable):
                await embedder.embed(["a"])
        with pytest.raises(ModelUnavailable):
            await embedder.check()
        await embedder.close()

    asyncio.run(story())
    assert len(endpoint.asked) == 1


def test_an_endpoint_that_is_not_described_is_refused_at_the_start() -> None:
    with pytest.raises(SettingsError, match=r"models\.url, models\.name, models\.dimension must be set"):
        asyncio.run(open_reference(plain_settings(models__embedder="openai")))


@pytest.fixture
def store_of(tmp_path: Path, endpoint: Endpoint) -> Iterator[Callable[[int], Store]]:
    stores: list[Store] = []

    def make(dimension: int) -> Store:
        settings = plain_settings(
            models__embedder="openai", models__url=endpoint.url, models__name="m", models__dimension=dimension
        )
        stores.append(Store("folder", tmp_path / "memory", settings))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


def test_a_store_with_an_endpoint_keeps_its_vectors(store_of: Callable[[int], Store]) -> None:
    store = store_of(3)
    lin = store.memory.of(user="lin", thread="t")
    receipts = store.run(lin.ingest(["hello", "你好"]))
    assert store.run(store.memory.operate.settle(10)).settled
    kept = store.run(store.parts.storage.vectors.get("default", [receipt.id for receipt in receipts.receipts]))
    assert {(vector.lane, len(vector.data)) for vector in kept} == {("openai", 12)}
    assert store.run(lin.query("hello")).degraded == ()


def test_a_wrong_dimension_writes_nothing_and_words_still_find(store_of: Callable[[int], Store]) -> None:
    store = store_of(4)
    lin = store.memory.of(user="lin", thread="t")
    [receipt] = store.run(lin.ingest("hello")).receipts
    assert not store.run(store.memory.operate.settle(0.5)).settled
    assert store.run(store.parts.storage.vectors.get("default", [receipt.id])) == []
    found = store.run(store.memory.of(user="lin").query("hello"))
    assert [hit.id for hit in found.raw] == [receipt.id]
    [degraded] = found.degraded
    assert "models.dimension is 4" in degraded
    findings = store.run(store.memory.operate.doctor()).findings
    assert any("models.dimension is 4" in finding.detail for finding in findings if finding.state == "warning")


@pytest.mark.parametrize("elsewhere", [False, True])
def test_an_endpoint_of_earlier_settings_is_asked_again_but_gets_the_api_key_only_if_it_was_set_for_it(
    endpoint: Endpoint, elsewhere: bool
) -> None:
    before = OpenAIEmbedder(endpoint.url, "m", 3, "secret")
    url = "http://127.0.0.1:9" if elsewhere else endpoint.url
    now = plain_settings(models__embedder="openai", models__url=url, models__name="new", models__api_key="secret")

    async def ask() -> list[bytes]:
        revived = revive(now, space_of(before))
        assert revived is not None
        try:
            return await revived.embed(["four"])
        finally:
            await revived.close()
            await before.close()

    assert len(asyncio.run(ask())) == 1
    assert endpoint.asked[0]["model"] == "m"
    assert ("Authorization" in endpoint.headers[0]) is not elsewhere


def test_the_faults_are_errors_of_ours() -> None:
    assert issubclass(ModelUnavailable, RememberdError)
    assert ModelUnavailable.retryable
