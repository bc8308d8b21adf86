"""A document as a shelf and the file behind it hold it."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rememberd.model.change import Noun

from .lane import packed
from .postings import number_of

if TYPE_CHECKING:
    from rememberd.ports.index import Document


@dataclass(frozen=True, slots=True)
class Held:
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
    metadata: dict[str, Any] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Document) -> Held:
        counted = Counter(document.terms)
        terms = array("I", map(number_of, counted))
        counts = np.minimum(list(counted.values()), 65535).astype(np.uint16)
        return cls(
            document.noun, document.id, document.user, document.agent, document.thread, document.seq, document.kind,
            document.role, document.name, document.topic, document.domain, document.source, document.at.timestamp(),
            len(document.terms), terms.tobytes(), counts.tobytes(), document.metadata,
            {lane: packed(data) for lane, data in document.vectors.items()},
        )  # fmt: skip
