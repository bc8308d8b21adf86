"""Sentences, and parts of long texts that fit a limit."""

from __future__ import annotations

import random

import pytest

from rememberd.language.sentences import parts, sentences
from rememberd.language.tokens import estimate

SENTENCES = {
    "It rains. We stay in!": ["It rains.", "We stay in!"],
    "今天下雨。我们不出门！好吗？": ["今天下雨。", "我们不出门！", "好吗？"],
    "他说：“走吧。”我就走了。": ["他说：“走吧。”", "我就走了。"],
    '那个写着"今天休息。"的牌子呢？我找不到。': ['那个写着"今天休息。"的牌子呢？', "我找不到。"],
    '"Really?" she said. "Yes."': ['"Really?" she said.', '"Yes."'],
    "Dr. Lin met Mr. J. Smith at 9 p.m. on Monday. They talked.": [
        "Dr. Lin met Mr. J. Smith at 9 p.m. on Monday.",
        "They talked.",
    ],
    "So do I. Then we left.": ["So do I.", "Then we left."],
    "Pi is 3.14 and version 1.2.3 is out. Good.": ["Pi is 3.14 and version 1.2.3 is out.", "Good."],
    "See https://example.org/?q=1&r=2 please": ["See https://example.org/?q=1&r=2 please"],
    "well... maybe… I mean… no. Yes.": ["well... maybe…", "I mean… no.", "Yes."],
    "one line\nanother line\n\n  third": ["one line", "another line", "third"],
    "用Python写的。It works! 真的吗?是的": ["用Python写的。", "It works!", "真的吗?", "是的"],
    "What?! No way.": ["What?!", "No way."],
    "等等……然后呢？！走。": ["等等……", "然后呢？！", "走。"],
    "no mark at all": ["no mark at all"],
    " \n ": [],
    "": [],
}


@pytest.mark.parametrize(("text", "expected"), SENTENCES.items())
def test_a_text_is_split_where_its_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_text_within_the_limit_is_one_part_and_an_empty_one_has_none() -> None:
    assert parts("  It rains. We stay in.  ", 100, estimate) == ["It rains. We stay in."]
    assert parts(" \n", 100, estimate) == []


def test_parts_end_where_sentences_end_and_are_filled_up_to_the_limit() -> None:
    assert parts("One two. Three four. Five six. Seven.", 4, _words) == ["One two. Three four.", "Five six. Seven."]
    assert parts("今天下雨。我们不出门！好吗？", 10, len) == ["今天下雨。", "我们不出门！好吗？"]


def test_a_sentence_that_is_too_long_is_cut_at_a_pause_then_between_words_then_between_characters() -> None:
    assert parts("Short. First a clause, then another one, and an end. Short.", 4, _words) == [
        "Short.",
        "First a clause,",
        "then another one,",
        "and an end.",
        "Short.",
    ]
    assert parts("a b c d e f g", 3, _words) == ["a b c", "d e f", "g"]
    assert parts("一二三四五六七", 3, len) == ["一二三", "四五六", "七"]


def test_every_part_keeps_the_limit_and_nothing_but_white_space_is_lost() -> None:
    chance = random.Random(3)
    alphabet = ["word", " ", " ", "。", "，", ". ", ", ", "\n", "汉", "字", "? ", "12.5", "Mr. ", "🙂", "x" * 40]
    for _ in range(300):
        text = "".join(chance.choices(alphabet, k=chance.randrange(1, 120)))
        limit = chance.randrange(2, 30)
        found = parts(text, limit, estimate)
        assert all(estimate(part) <= limit for part in found)
        assert "".join("".join(found).split()) == "".join(text.split())
        assert parts(text, limit, estimate) == found


def test_a_character_over_the_limit_is_a_part_of_its_own() -> None:
    assert parts("🙂🙂", 1, lambda text: 3 * len(text)) == ["🙂", "🙂"]


def test_counting_stays_cheap_for_long_texts() -> None:
    text = "A sentence of some words, no more. " * 20_000
    counted = 0

    def count(piece: str) -> int:
        nonlocal counted
        counted += len(piece)
        return len(piece) // 4

    assert len(parts(text, 500, count)) > 300
    assert counted < 20 * len(text)


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        parts("text", 0, estimate)


def _words(text: str) -> int:
    return len(text.split())
