"""Exact tokens: equal to tiktoken's own encodings, without a network."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest
import tiktoken

from rememberd.errors import ModelUnavailable, SettingsError
from rememberd.language.tokens import estimate
from rememberd.providers.catalogue import VOCABULARIES
from rememberd.providers.tokens import ExactCounter
from rememberd.wiring import open_reference
from tests.conftest import plain_settings

if TYPE_CHECKING:
    from pathlib import Path

_KINDS = (
    list("你好世界我皮肤敏感想找轻薄的粉底，。！？「」三百元以内繁體龍鳳"),
    ["memory", "The", "don't", "we'LL", "PostgreSQL", "naïve", "snake_case", "camelCase", "antidisestablishment"],
    [" ", "  ", "\n", "\n\n", "\t", " \r\n", "\u3000"],
    ["1", "23", "456", "7890123", "3.14", "2026-11-15", "١٢٣"],
    list("!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"),
    ["😀", "👩‍👩‍👧", "🇨🇳", "é", "e\u0301", "ß", "한국어", "ありがとう", "नमस्ते", "\u200b"],
    ["<|endoftext|>", "<|im_start|>", "```python\nprint()\n```", "https://example.org/a?b=c", '{"a": [1, 2]}'],
)


def _texts(number: int) -> list[str]:
    made = random.Random(20261115)
    return [
        "".join(made.choice(made.choice(_KINDS)) + made.choice(["", "", " "]) for _ in range(made.randrange(1, 60)))
        for _ in range(number)
    ]


@pytest.fixture
def reference(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """tiktoken's own loader, which finds the fetched vocabularies instead of the web's; it checks their hashes."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setattr("tiktoken.load.read_file", lambda address: (fetched / address.split("/")[-1]).read_bytes())


@pytest.mark.usefixtures("reference", "no_network")
@pytest.mark.parametrize("encoding", VOCABULARIES)
def test_a_thousand_mixed_texts_count_as_tiktoken_counts_them(encoding: str, fetched: Path) -> None:
    count, theirs = ExactCounter(encoding, fetched), tiktoken.get_encoding(encoding)
    texts = _texts(1000)
    assert [count(text) for text in texts] == [len(theirs.encode(text, disallowed_special=())) for text in texts]


def test_an_estimate_is_rather_too_many_than_too_few(fetched: Path) -> None:
    count = ExactCounter("o200k_base", fetched)
    for text in (
        "我皮肤敏感，想找轻薄的粉底，最好不含酒精。",
        "I prefer short answers, without tables, in the morning.",
    ):
        assert count(text) <= estimate(text) <= 2 * count(text)


def test_a_vocabulary_that_is_not_there_is_named_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="o200k_base is missing or damaged; rememberd models pull"):
        ExactCounter("o200k_base", tmp_path)


def test_a_damaged_vocabulary_counts_by_estimate(fetched: Path, tmp_path: Path) -> None:
    file = VOCABULARIES["cl100k_base"]
    whole = (fetched / file.name).read_bytes()
    (tmp_path / file.name).write_bytes(whole[:-3] + b"0" + whole[-2:])
    assert ExactCounter("cl100k_base", tmp_path)("你好") == estimate("你好")


async def _counts(folder: Path, encoding: str, text: str) -> int:
    settings = plain_settings(models__folder=str(folder), tokens__encoding=encoding)
    engine = (await open_reference(settings)).engine
    try:
        return engine._parts.count_tokens(text)
    finally:
        await engine.close()


def test_the_setting_decides_how_tokens_are_counted(fetched: Path, tmp_path: Path) -> None:
    text = "我皮肤敏感，想找轻薄的粉底"
    exact = {name: ExactCounter(name, fetched)(text) for name in VOCABULARIES}
    assert asyncio.run(_counts(fetched, "auto", text)) == exact["o200k_base"]
    assert asyncio.run(_counts(fetched, "cl100k_base", text)) == exact["cl100k_base"]
    assert asyncio.run(_counts(fetched, "estimate", text)) == estimate(text)
    assert asyncio.run(_counts(tmp_path, "auto", text)) == estimate(text)


def test_an_encoding_that_was_asked_for_and_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"tokens\.encoding is cl100k_base, but .*; rememberd models pull"):
        asyncio.run(_counts(tmp_path, "cl100k_base", "x"))
