"""A document as a shelf and the file behind it hold it."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from rememberd.model.change import Noun

from .lane import packed
from .postings import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rememberd.ports.index import Document

_MOST = 65535  # that a count of 16 bits can tell


class Held(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """``terms`` and ``counts`` are arrays of 32 and 16 bits, ``vectors`` are packed as lanes hold them."""

    noun: Noun
    id: str
    user: str | None
    agent: str | None
    thread: str | None
    seq: int | None
    kind: str
    role: str | None
    name: str | None
    topic: str | None
    domain: str | None
    source: str | None
    seconds: float
    length: int
    terms: bytes
    counts: bytes
    metadata: dict[str, Any]
    vectors: dict[str, bytes]


def held(documents: Sequence[Document]) -> list[Held]:
    """Documents as they are held. Their vectors are packed together, which costs far less than one by one."""
    given = [(place, lane) for place, document in enumerate(documents) for lane in document.vectors]
    vectors: list[dict[str, bytes]] = [{} for _ in documents]
    for (place, lane), data in zip(given, packed([documents[i].vectors[lane] for i, lane in given]), strict=True):
        vectors[place][lane] = data
    return [_held(document, vectors[place]) for place, document in enumerate(documents)]


def _held(document: Document, vectors: dict[str, bytes]) -> Held:
    counted = Counter(document.terms)
    terms = array("I", map(number_of, counted))
    counts = array("H", [min(count, _MOST) for count in counted.values()])
    return Held(
        document.noun, document.id, document.user, document.agent, document.thread, document.seq, document.kind,
        document.role, document.name, document.topic, document.domain, document.source, document.at.timestamp(),
        len(document.terms), terms.tobytes(), counts.tobytes(), document.metadata, vectors,
    )  # fmt: skip
