"""From text to terms: Han characters and their pairs, stemmed words for the rest."""

from __future__ import annotations

import re
import threading
import unicodedata

import Stemmer

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_RUNS = re.compile(rf"([{_HAN}]+)|([^\W_]+)", re.UNICODE)
_HAN_RUN = re.compile(rf"[{_HAN}]+")
_PLAIN = re.compile(r"[\x00-\x7f\u4e00-\u9fff\u3000-\u3002]*")

#: Words that say nothing about what a question asks for.
STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "am",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "ours",
        "she",
        "so",
        "some",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "too",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
    ]
)
_STOP_HAN = frozenset("的了吗呢吧啊呀么是在我你他她它们这那和与及就都也很什怎哪")

_stemmers = threading.local()


def fold(text: str) -> str:
    """One form for what reads the same: compatibility forms and case are folded."""
    return (text if _PLAIN.fullmatch(text) else unicodedata.normalize("NFKC", text)).casefold()


def terms(text: str) -> list[str]:
    """Every term of a text, with repeats, as the index holds them."""
    found: list[str] = []
    words: list[str] = []
    for run, word in _RUNS.findall(fold(text)):
        if run:
            found += run
            found += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            words.append(word)
    return found + _stem(words)


def question_terms(text: str) -> tuple[str, ...]:
    """The terms that a question looks for, each once: without stop words, unless there is nothing else."""
    folded = fold(text)
    words = [word for run, word in _RUNS.findall(folded) if not run]
    asked = [*_asked_han(folded), *_stem([word for word in words if word not in STOP_WORDS])]
    return tuple(dict.fromkeys(asked or terms(text)))


def phrase_terms(text: str) -> tuple[str, ...]:
    """The terms that all have to stand in a text for it to contain these words: pairs where there are pairs."""
    folded = fold(text)
    found = _stem([word for run, word in _RUNS.findall(folded) if not run])
    for run in _HAN_RUN.findall(folded):
        found += [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]
    return tuple(dict.fromkeys(found))


def has_han(text: str) -> bool:
    return _HAN_RUN.search(text) is not None


def _asked_han(folded: str) -> list[str]:
    found: list[str] = []
    for run in _HAN_RUN.findall(folded):
        found += [character for character in run if character not in _STOP_HAN]
        pairs = [run[i : i + 2] for i in range(len(run) - 1)]
        found += [pair for pair in pairs if not (pair[0] in _STOP_HAN and pair[1] in _STOP_HAN)]
    return found


def _stem(words: list[str]) -> list[str]:
    stemmer: Stemmer.Stemmer | None = getattr(_stemmers, "english", None)
    if stemmer is None:
        stemmer = _stemmers.english = Stemmer.Stemmer("english")
    stemmed: list[str] = stemmer.stemWords(words)
    return stemmed
