"""Simplified and traditional characters: one form for search, and nothing else is changed."""

from __future__ import annotations

import pytest

from rememberd.language.han import simplified
from rememberd.language.segment import phrase_terms, question_terms, terms, words_of

PAIRS = {
    "電腦": "电脑",
    "筆記本電腦壞了": "笔记本电脑坏了",
    "皮膚敏感，想找輕薄的粉底": "皮肤敏感，想找轻薄的粉底",
    "這個週末兩點鐘": "这个周末两点钟",
    "頭髮與發展": "头发与发展",
    "乾杯，幹活": "干杯，干活",
    "裡面、裏面": "里面、里面",
    "臺灣的麵條": "台湾的面条",
    "瞭解": "了解",
    "著急": "着急",
    "Python 與 Rust 2023": "Python 与 Rust 2023",
    "ひらがな hello": "ひらがな hello",
}


@pytest.mark.parametrize(("traditional", "expected"), PAIRS.items())
def test_a_traditional_text_is_folded_to_its_simplified_form(traditional: str, expected: str) -> None:
    assert simplified(traditional) == expected
    assert simplified(expected) == expected
    assert len(simplified(traditional)) == len(traditional)


@pytest.mark.parametrize(("traditional", "simple"), PAIRS.items())
def test_both_ways_of_writing_have_the_same_terms(traditional: str, simple: str) -> None:
    assert terms(traditional) == terms(simple)
    assert question_terms(traditional) == question_terms(simple)
    assert phrase_terms(traditional) == phrase_terms(simple)
    assert words_of(traditional) == words_of(simple)
