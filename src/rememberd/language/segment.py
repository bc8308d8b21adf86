"""From text to terms: Han characters and their pairs, stemmed words for the rest; and what a question looks for."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import Stemmer

from .han import simplified
from .sentences import sentences

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_RUNS = re.compile(rf"([{_HAN}]+)|([^\W_{_HAN}]+)", re.UNICODE)
_ASCII_BREAKS = {code: " " for code in range(128) if not chr(code).isalnum()}
_HAN_RUN = re.compile(rf"[{_HAN}]+")
_PLAIN = re.compile(r"[\x00-\x7f\u4e00-\u9fff\u3000-\u3002]*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that say nothing about what a text is about; they are not indexed.
STOP_WORDS = _words(
    """a an and are as at be been but by did do does for from had has have he her hers him his how i if in into is it
    its me my of on or our she so that the their them then there these they this to was we were what when where which
    who whom why will with would you your"""
)

#: Words that frame a question more than they tell what it is about.
FRAME_WORDS = _words(
    """s t m re ve ll d about after again all also am any around away back because before being between both can could
    day doing done down during each ever every few first get getting give given go going gone got just kind last like
    likely long look made make making many may might more most much must new not now off often once one only other out
    over own part recent recently same say saying said see should some such sort take taken taking than thing things
    time times too type types two up us use used using very want way well while mention mentioned mentions describe
    described share shared name named ask asked earlier knew know known knows recall remember remembered talk talked
    tell telling think thought told"""
)

#: Characters that frame a question in Chinese, or bind its words together; pairs of them do so too.
FRAME_CHARACTERS = frozenset(
    "我你您他她它们咱的地得了着过是不在有没什么哪吗呢吧啊呀怎样为谁几多少个和跟与把被给让对从到要会能可以还也都就才很太更最"
    "这那里边上下时候现次些说"
)
_FRAME_WEIGHT = 0.3
_STATED_WEIGHT = 0.3

_stemmers = threading.local()


def fold(text: str) -> str:
    """One form for what reads the same: compatibility forms, case, and traditional characters are folded."""
    if text.isascii():
        return text.lower()
    return simplified(text if _PLAIN.fullmatch(text) else unicodedata.normalize("NFKC", text)).casefold()


def terms(text: str) -> list[str]:
    """Every term of a text, with repeats, as the index holds them."""
    folded = fold(text)
    if folded.isascii():
        return _ascii_terms(folded)
    found: list[str] = []
    words: list[str] = []
    for run, word in _RUNS.findall(folded):
        if run:
            found += run
            found += _pairs(run)
        elif word not in STOP_WORDS:
            words.append(word)
    return found + _stem(words)


def ordered_terms(text: str) -> list[str]:
    """Han characters and stemmed words in the order in which they stand; no pairs."""
    folded = fold(text)
    if folded.isascii():
        return _ascii_terms(folded)
    found: list[str] = []
    for run, word in _RUNS.findall(folded):
        if run:
            found += run
        elif word not in STOP_WORDS:
            found.append(_stem_of(word))
    return found


def question_terms(text: str) -> dict[str, float]:
    """The terms that a question looks for, with their weights: what frames a question, or only leads up to it, counts
    less than what it asks."""
    split = split_question(text)
    if split is None:
        return _weighed(text)
    asking, stating = split
    weights = {term: weight * _STATED_WEIGHT for term, weight in _weighed(stating).items()}
    for term, weight in _weighed(asking).items():
        weights[term] = max(weights.get(term, 0.0), weight)
    return weights


def asked_terms(text: str) -> dict[str, float]:
    """The terms of the sentences that ask."""
    split = split_question(text)
    return _weighed(text if split is None else split[0])


@lru_cache(256)
def split_question(text: str) -> tuple[str, str] | None:
    """The sentences that ask and those that do not, where a text has both; else None."""
    if "?" not in text and "？" not in text:
        return None
    found = [sentence for sentence in sentences(text) if _RUNS.search(sentence)]
    asking = [sentence for sentence in found if "?" in sentence or "？" in sentence]
    if not asking or len(asking) == len(found):
        return None
    return " ".join(asking), " ".join(sentence for sentence in found if sentence not in asking)


def phrase_terms(text: str) -> tuple[str, ...]:
    """The terms that all have to stand in a text for it to contain these words: pairs where there are pairs."""
    folded = fold(text)
    found = _stem([word for run, word in _RUNS.findall(folded) if not run and word not in STOP_WORDS])
    for run in _HAN_RUN.findall(folded):
        found += _pairs(run) or [run]
    return tuple(dict.fromkeys(found))


def words_of(text: str) -> frozenset[str]:
    """The words of a text as they are written, folded; for names."""
    return frozenset(run or word for run, word in _RUNS.findall(fold(text)))


def has_han(text: str) -> bool:
    return not text.isascii() and _HAN_RUN.search(text) is not None


def _weighed(text: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for run, word in _RUNS.findall(fold(text)):
        if run:
            for term in (*run, *_pairs(run)):
                weights[term] = _FRAME_WEIGHT if FRAME_CHARACTERS.issuperset(term) else 1.0
        elif word not in STOP_WORDS:
            term = _stem_of(word)
            weights[term] = max(weights.get(term, 0.0), _FRAME_WEIGHT if word in FRAME_WORDS else 1.0)
    return weights


def _ascii_terms(folded: str) -> list[str]:
    """Most texts without Han are ASCII, and are cut into words ten times as fast as others."""
    return _stem([word for word in folded.translate(_ASCII_BREAKS).split() if word not in STOP_WORDS])


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _stem(words: list[str]) -> list[str]:
    return list(map(_stem_of, words))


@lru_cache(1 << 16)
def _stem_of(word: str) -> str:
    stemmer: Stemmer.Stemmer | None = getattr(_stemmers, "english", None)
    if stemmer is None:
        stemmer = _stemmers.english = Stemmer.Stemmer("english")
    stemmed: str = stemmer.stemWord(word)
    return stemmed
