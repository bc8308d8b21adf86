"""How much of the exact answer the vector leg finds: the ten nearest of many real texts, by how many are rescored.

    python -m bench.nearest --data DIR [--kept FILE]

``DIR`` is that of ``bench.quality``. The texts are all that the files hold in a language, the sentences in them, and
sentences with the one or two after; the questions are those that the files ask. The exact answer is by the cosines of
the vectors as the model made them. The leg is that of the embedded index: 8 bits a dimension, and where there are
thousands, a first look at the signs, of which the best are rescored.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from rememberd import wiring
from rememberd.backends.folder import lane as leg
from rememberd.language.segment import has_han, terms
from rememberd.language.sentences import sentences
from rememberd.settings import load_settings

from .embeddings import kept_embeddings
from .evidence import locomo, memdaily
from .tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_NEAREST = 10
_RESCORED = (100, 250, 500, leg.RESCORED, 2 * leg.RESCORED)
_MOST = 25_000
_QUESTIONS = 500
_FEWEST_TERMS = 3  # what has fewer is a number, a name or a time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--kept", type=Path, help="the file of the embeddings")
    options = parser.parse_args()
    cases = {"English": locomo(options.data), "Chinese": memdaily(options.data, 1)}
    with kept_embeddings(options.kept or options.data / "rememberd-embeddings.db"):
        for language, asked in cases.items():
            questions = dict.fromkeys(question.text for case in asked for question in case.questions)
            texts = [text for text in _texts(options.data, chinese=language == "Chinese") if text not in questions]
            report(language, _embedded(texts), _embedded(list(questions)[:: max(1, len(questions) // _QUESTIONS)]))


def report(language: str, texts: Floats, questions: Floats) -> None:
    exact = np.argsort(-(questions @ texts.T), axis=1, kind="stable")[:, :_NEAREST]
    held = leg.Lane(texts.shape[1])
    held.add(np.arange(len(texts)), leg.packed(texts))
    rows = []
    for rescored in (*_RESCORED, len(texts)):
        compared = rescored if rescored == len(texts) else 0
        with patch.object(leg, "RESCORED", rescored), patch.object(leg, "EXACT", compared):
            rows.append([f"{rescored:,}", *_found(held, len(texts), questions, exact)])
    table(
        f"{language}: share of the {_NEAREST} nearest of {len(texts):,} texts that the vector leg finds, "
        f"{len(questions)} questions",
        ["rescored", "found", "worst question", "ms of CPU"],
        rows,
    )


def _found(held: leg.Lane, number: int, questions: Floats, exact: NDArray[np.intp]) -> Iterator[str]:
    every = np.arange(number)
    started = time.process_time()
    answers = [held.nearest(leg.spread(vector), every) for vector in questions]
    spent = 1000 * (time.process_time() - started) / len(questions)
    shares = [
        len(set(rows[np.argsort(-cosines, kind="stable")[:_NEAREST]]) & set(nearest)) / _NEAREST
        for (rows, cosines), nearest in zip(answers, exact, strict=True)
    ]
    yield from (f"{np.mean(shares):.4f}", f"{min(shares):.1f}", f"{spent:.2f}")


def _texts(data: Path, *, chinese: bool) -> list[str]:
    found: dict[str, None] = {}
    for file in sorted(data.rglob("*.json")):
        for text in _strings(json.loads(file.read_text(encoding="utf-8"))):
            parts = sentences(text)
            pairs = map(" ".join, itertools.pairwise(parts))
            triples = map(" ".join, zip(parts, parts[1:], parts[2:], strict=False))
            for each in (text, *parts, *pairs, *triples):
                if has_han(each) == chinese and len(terms(each)) >= _FEWEST_TERMS and "://" not in each:
                    found[each] = None
    return list(found)[:_MOST]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _embedded(texts: list[str]) -> Floats:
    embedders, _ = wiring.embedding.embedders(load_settings())
    embedder = next(each for each in embedders if each.takes(texts[0]))

    async def embed() -> list[bytes]:
        made: list[bytes] = []
        for start in range(0, len(texts), 1000):
            made += await embedder.embed(texts[start : start + 1000])
        return made

    return np.frombuffer(b"".join(asyncio.run(embed())), "<f4").reshape(len(texts), -1)


if __name__ == "__main__":
    main()
