"""WordPiece: the ids that the models were trained with. Golden ids were compared with the tokenizer of the makers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from rememberd.providers.catalogue import EN, ZH
from rememberd.providers.wordpiece import WordPiece

if TYPE_CHECKING:
    from pathlib import Path

_PIECES = ["[CLS]", "[SEP]", "[UNK]", "un", "##aff", "##able", "hello", ",", "cafe", "我", "们", "，", "word"]
BEGIN, END, UNKNOWN, UN, AFF, ABLE, HELLO, COMMA, CAFE, WO, MEN, WIDE_COMMA, WORD = range(13)


def _tokenizer(*, lowercase: bool = True, also: tuple[str, ...] = ()) -> WordPiece:
    vocabulary = {piece: number for number, piece in enumerate([*_PIECES, *also])}
    tree = {"normalizer": {"lowercase": lowercase}, "model": {"vocab": vocabulary}}
    return WordPiece(msgspec.json.encode(tree))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("   \t\n", []),
        ("hello", [HELLO]),
        ("unaffable", [UN, AFF, ABLE]),
        ("Hello,hello", [HELLO, COMMA, HELLO]),
        ("café CAFÉ cafe\u0301", [CAFE, CAFE, CAFE]),
        ("我们，我hello", [WO, MEN, WIDE_COMMA, WO, HELLO]),
        ("unknowable", [UNKNOWN]),
        ("un\u200baff\x00able", [UN, AFF, ABLE]),
        ("hello\u3000hello\u00a0hello", [HELLO] * 3),
        ("x" * 101, [UNKNOWN]),
    ],
)
def test_pieces_of_a_text(text: str, ids: list[int]) -> None:
    assert _tokenizer().ids(text) == [BEGIN, *ids, END]


def test_a_long_text_is_cut_and_keeps_both_marks() -> None:
    ids = _tokenizer().ids("word " * 1000)
    assert ids == [BEGIN, *[WORD] * 510, END]


def test_case_is_folded_where_the_vocabulary_has_no_capitals_whatever_the_file_says() -> None:
    assert _tokenizer(lowercase=False).ids("Hello") == [BEGIN, HELLO, END]
    assert _tokenizer(lowercase=False, also=("Oslo",)).ids("Hello Oslo") == [BEGIN, UNKNOWN, len(_PIECES), END]


def test_golden_ids_of_the_english_model(fetched: Path) -> None:
    tokenizer = WordPiece((fetched / EN.tokenizer.name).read_bytes())
    assert tokenizer.ids("Hello, World!") == [101, 7592, 1010, 2088, 999, 102]
    assert tokenizer.ids("unaffable café") == [101, 14477, 20961, 3468, 7668, 102]


def test_golden_ids_of_the_chinese_model(fetched: Path) -> None:
    tokenizer = WordPiece((fetched / ZH.tokenizer.name).read_bytes())
    assert tokenizer.ids("你好，世界") == [101, 872, 1962, 8024, 686, 4518, 102]
    assert tokenizer.ids("我在Oslo") == tokenizer.ids("我在oslo")
    assert 100 not in tokenizer.ids("我在Oslo用Python")
