"""The words of the embedded index: looked through row by row, or looked up term by term, they are the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rememberd.backends.folder import words as leg
from rememberd.backends.folder.words import Words, counted, number_of

VOCABULARY = [f"word-{number}" for number in range(60)] + ["绿茶", "茶"]


def texts(number: int) -> list[list[str]]:
    chance = random.Random(3)
    return [chance.choices(VOCABULARY, k=chance.randrange(30)) for _ in range(number)]


def asked(*terms: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array(sorted(map(number_of, terms)), np.uint32)


def found(words: Words, rows: list[int]) -> set[tuple[int, int, float]]:
    matches = words.matches(asked("word-1", "word-7", "绿茶", "absent"), np.array(rows, np.intp))
    return set(zip(matches.terms.tolist(), matches.places.tolist(), matches.counts.tolist(), strict=True))


@pytest.mark.parametrize("rows", [list(range(400)), list(range(0, 400, 3)), [5], []])
def test_looked_through_and_looked_up_are_the_same(rows: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    said = texts(400)
    through, up = Words(), Words()
    through.add(*counted(said))
    for start in range(0, 400, 50):  # as they come, with searches in between
        up.add(*counted(said[start : start + 50]))
        with monkeypatch.context() as patched:
            patched.setattr(leg, "NARROW", 0)
            patched.setattr(leg, "ONE_IN", 10**9)
            some = found(up, [row for row in rows if row < start + 50])
    assert some == found(through, rows)
    terms = asked("word-1", "word-7", "绿茶", "absent").tolist()
    expected = {
        (terms.index(number_of(term)), place, float(said[row].count(term)))
        for place, row in enumerate(rows)
        for term in ("word-1", "word-7", "绿茶")
        if term in said[row]
    }
    assert some == expected


def test_what_stands_very_often_counts_as_often_as_can_be_told() -> None:
    words = Words()
    words.add(*counted([["tea"] * 1000 + ["cup"]]))
    matches = words.matches(asked("tea", "cup"), np.array([0]))
    assert sorted(matches.counts.tolist()) == [1, 255]
