"""WordPiece as BERT does it: from text to the ids of a vocabulary, read from a ``tokenizer.json``."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

import msgspec

#: What the models take, the two marks around a text included.
LONGEST = 512

_LONG_WORD = 100
_CJK = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f"
)
_ASCII_MARKS = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_ALONE = re.compile(rf"([{_CJK}{_ASCII_MARKS}])")


class WordPiece:
    """The tokenizer of an uncased BERT."""

    def __init__(self, document: bytes) -> None:
        tree: dict[str, Any] = msgspec.json.decode(document)
        self._vocabulary: dict[str, int] = tree["model"]["vocab"]
        self._begin, self._end, self._unknown = (self._vocabulary[mark] for mark in ("[CLS]", "[SEP]", "[UNK]"))
        # Some files say that case is kept although no piece has a capital: every name would be unknown.
        capitals = any(piece != piece.lower() for piece in self._vocabulary if piece[0] not in "[<")
        self._lower = bool(tree["normalizer"]["lowercase"]) or not capitals
        self._pieces = lru_cache(maxsize=20_000)(self._split)

    def ids(self, text: str, longest: int = LONGEST) -> list[int]:
        """The pieces of a text between the two marks, cut to ``longest``."""
        found: list[int] = []
        for word in self._words(text):
            found += self._pieces(word)
            if len(found) > longest - 2:
                break
        return [self._begin, *found[: longest - 2], self._end]

    def _words(self, text: str) -> list[str]:
        """Words, and every punctuation mark and Chinese character by itself."""
        if not text.isascii() or not text.isprintable():
            text = "".join(_cleaned(character) for character in text)
        if self._lower:
            if not text.isascii():
                text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
            text = text.lower()
        spaced = _ALONE.sub(r" \1 ", text)
        if not spaced.isascii():
            spaced = "".join(f" {c} " if not c.isascii() and _is_punctuation(c) else c for c in spaced)
        return spaced.split()

    def _split(self, word: str) -> tuple[int, ...]:
        """The longest known pieces from the left; a word that cannot be made of them is unknown."""
        if len(word) > _LONG_WORD:
            return (self._unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get(prefix + word[start:end])
                if piece is not None:
                    pieces.append(piece)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(pieces)


def _cleaned(character: str) -> str:
    """Spaces of every kind as a space, control characters as nothing."""
    if character in "\t\n\r":
        return " "
    if character in "\0\ufffd":
        return ""
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    return "" if category in ("Cc", "Cf", "Co") else character


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")
