"""Many blocks in a row as one, and blocks without what later ones made void."""

from __future__ import annotations

from itertools import accumulate, chain, compress
from typing import TYPE_CHECKING

import numpy as np

from .block import Block, Leg, Strings, Thing
from .lane import Packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from .block import Numbers

    Mask = NDArray[np.bool_]

_OF_TERMS = ("terms", "counts")


def merged(blocks: Sequence[Block]) -> Block:
    """One block that says the same as some in a row."""
    return _joined(lasting(blocks))


def lasting(blocks: Sequence[Block]) -> list[Block]:
    """Blocks in a row, each without what a later one made void."""
    kept: list[Block] = []
    told: set[Thing] = set()
    embedded: set[Thing] = set()
    for block in reversed(blocks):
        gone = [thing for thing in block.gone if thing not in told]
        told.update(gone)
        again = _mask(thing not in told and thing not in embedded for thing in block.embedded)
        embedded.update(block.embedded)
        stay = _mask(thing not in told for thing in block.documents)
        bare = _mask(thing in embedded for thing in block.documents)
        told.update(block.documents)
        kept.append(_picked(block, stay, again, np.concatenate([stay & ~bare, again]), gone))
    return kept[::-1]


def _mask(true: Iterable[bool]) -> Mask:
    return np.fromiter(true, bool)


def _picked(block: Block, documents: Mask, embedded: Mask, vectored: Mask, gone: list[Thing]) -> Block:
    """Some of a block; ``vectored`` tells whose vectors stay, of documents and of what was embedded since."""
    if vectored.all() and len(gone) == len(block.gone):
        return block
    rows = np.flatnonzero(documents)
    of_terms = np.repeat(documents, block.numbers["sizes"])
    places = np.cumsum(np.concatenate([documents, embedded])) - 1
    legs = []
    for space, things, vectors in block.legs:
        stay = vectored[things]
        packed = Packed(vectors.scales[stay], vectors.codes[stay])
        legs.append(Leg(space, places[things[stay]].astype(np.uint32), packed))
    return Block(
        documents=[*compress(block.documents, documents)],
        embedded=[*compress(block.embedded, embedded)],
        gone=gone,
        strings={name: Strings(values, codes[rows]) for name, (values, codes) in block.strings.items()},
        numbers={name: column[of_terms if name in _OF_TERMS else rows] for name, column in block.numbers.items()},
        metadata=[*compress(block.metadata, documents)],
        legs=[leg for leg in legs if len(leg.things)],
    )


def _joined(blocks: Sequence[Block]) -> Block:
    first = blocks[0]
    return Block(
        documents=[*chain.from_iterable(block.documents for block in blocks)],
        embedded=[*chain.from_iterable(block.embedded for block in blocks)],
        gone=[*chain.from_iterable(block.gone for block in blocks)],
        strings={name: _strings([block.strings[name] for block in blocks]) for name in first.strings},
        numbers={name: np.concatenate([block.numbers[name] for block in blocks]) for name in first.numbers},
        metadata=[*chain.from_iterable(block.metadata for block in blocks)],
        legs=_legs(blocks),
    )


def _strings(columns: Sequence[Strings]) -> Strings:
    numbers: dict[str | None, int] = {}
    codes = [
        np.array([numbers.setdefault(value, len(numbers)) for value in values], np.uint32)[codes]
        for values, codes in columns
    ]
    return Strings(list(numbers), np.concatenate(codes))


def _legs(blocks: Sequence[Block]) -> list[Leg]:
    """All documents come first; what was embedded since comes behind them."""
    documents = [0, *accumulate(len(block.documents) for block in blocks)]
    embedded = accumulate((len(block.embedded) for block in blocks), initial=documents[-1])
    found: dict[tuple[str, int], list[tuple[Numbers, Packed]]] = {}
    for block, of_documents, of_embedded in zip(blocks, documents, embedded, strict=False):
        own = len(block.documents)
        for space, things, vectors in block.legs:
            moved = np.where(things < own, things + of_documents, things + of_embedded - own).astype(np.uint32)
            found.setdefault((space, vectors.codes.shape[1]), []).append((moved, vectors))
    return [
        Leg(
            space,
            np.concatenate([things for things, _ in parts]),
            Packed(
                np.concatenate([vectors.scales for _, vectors in parts]),
                np.concatenate([vectors.codes for _, vectors in parts]),
            ),
        )
        for (space, _), parts in found.items()
    ]
