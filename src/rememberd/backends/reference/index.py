"""An exact index on a dict in this process: every search looks at every document."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from rememberd.errors import Conflict
from rememberd.model.change import Noun
from rememberd.ports.candidates import Candidate, Candidates, Proposals, place_of, vectors_of
from rememberd.ports.index import NEIGHBOURED, Document, Embedded, Gone, Search

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rememberd.ports.index import Index

Address = tuple[str, Noun, str]


class ReferenceIndex:
    def __init__(self) -> None:
        self._documents: dict[Address, Document] = {}
        self._watermark = 0
        self._successor: ReferenceIndex | None = None
        self._closed = False

    async def watermark(self) -> int:
        return self._watermark

    async def apply(self, changes: Sequence[Document | Embedded | Gone], upto: int) -> None:
        for change in changes:
            address = (change.tenant, change.noun, change.id)
            if isinstance(change, Document):
                self._documents[address] = change
            elif isinstance(change, Embedded):
                if address in self._documents:
                    self._documents[address] = replace(self._documents[address], vectors=change.vectors)
            else:
                self._documents.pop(address, None)
        self._watermark = max(self._watermark, upto)

    async def search(self, search: Search) -> Candidates:
        seen = [document for document in self._documents.values() if _is_visible(document, search)]
        admitted = [document for document in seen if search.filters.admits(document)]
        found = [_candidate(document, search) for document in _with_neighbours(search, admitted)]
        return Candidates(
            proposals=Proposals.of(found, search),
            watermark=self._watermark,
            documents=len(seen),
            average_length=sum(len(document.terms) for document in seen) / len(seen) if seen else 0.0,
            frequencies={term: sum(term in document.terms for document in seen) for term in search.terms},
            background=_background(seen, search),
        )

    async def clear(self) -> None:
        self._documents.clear()
        self._watermark = 0

    async def digest(self) -> str:
        whole = hashlib.sha256()
        for address in sorted(self._documents):
            whole.update(_canonical(self._documents[address]))
        return whole.hexdigest()

    async def successor(self) -> ReferenceIndex:
        if self._successor is None:
            self._successor = ReferenceIndex()
        elif not self._successor._closed:
            raise Conflict("a successor of this index is being made already")
        self._successor._closed = False
        return self._successor

    async def give_way(self, successor: Index) -> bool:
        assert isinstance(successor, ReferenceIndex)
        if successor._watermark < self._watermark:
            return False
        self._documents, self._watermark = successor._documents, successor._watermark
        self._successor = None
        return True

    async def close(self) -> None:
        self._closed = True


def _is_visible(document: Document, search: Search) -> bool:
    return document.tenant == search.scope.tenant and (
        search.everyone or search.scope.sees(document.user, document.agent)
    )


def _candidate(document: Document, search: Search) -> Candidate:
    return Candidate(
        noun=document.noun,
        id=document.id,
        counts=tuple(document.terms.count(term) for term in search.terms),
        length=len(document.terms),
        cosine=_cosines(document, search),
        kind=document.kind,
        name=document.name,
        place=place_of(document.thread, document.seq),
        seconds=document.at.timestamp(),
    )


def _background(seen: list[Document], search: Search) -> dict[str, float]:
    compared = [_cosines(document, search) for document in seen]
    lanes = {lane for cosines in compared for lane in cosines}
    return {lane: float(np.mean([cosines[lane] for cosines in compared if lane in cosines])) for lane in lanes}


def _with_neighbours(search: Search, admitted: list[Document]) -> list[Document]:
    proposed = _proposed(search, admitted)
    best = [document for document in proposed[:NEIGHBOURED] if document.seq is not None]
    near = [document for document in admitted if any(_is_near(document, other, search.reach) for other in best)]
    return proposed + [document for document in near if document not in proposed]


def _is_near(one: Document, other: Document, reach: int) -> bool:
    same = one.user == other.user and one.thread is not None and one.thread == other.thread
    return same and one.seq is not None and other.seq is not None and 0 < abs(one.seq - other.seq) <= reach


def _proposed(search: Search, visible: Iterable[Document]) -> list[Document]:
    """By words and by vectors in turns, or simply the latest where neither was asked for; each document once."""
    latest = sorted(visible, key=lambda document: (document.at, document.id), reverse=True)
    if not search.terms and not search.vectors:
        return latest[: search.limit]
    wanted = set(search.terms)
    enough = len(wanted) if search.match == "all" else 1
    worded = [document for document in latest if wanted and len(wanted & set(document.terms)) >= enough]
    worded.sort(key=lambda document: len(wanted & set(document.terms)), reverse=True)
    near = [document for document in latest if _cosines(document, search)]
    near.sort(key=lambda document: max(_cosines(document, search).values()), reverse=True)
    proposed: dict[Address, Document] = {}
    for pair in zip_longest(worded, near):
        for document in filter(None, pair):
            proposed.setdefault((document.tenant, document.noun, document.id), document)
    return list(proposed.values())[: search.limit]


def _cosines(document: Document, search: Search) -> Mapping[str, float]:
    """The cosine per lane that both the document and the search have a vector of; of several vectors, the nearest."""
    cosines = {}
    for lane in document.vectors.keys() & search.vectors.keys():
        vectors, asked = vectors_of(document.vectors[lane]), np.frombuffer(search.vectors[lane], "<f4")
        if vectors.shape[1] == len(asked):
            cosines[lane] = float((vectors @ asked).max())
    return cosines


def _canonical(document: Document) -> bytes:
    fields = [
        [document.tenant, document.noun, document.id, document.user, document.agent, document.thread],
        [document.kind, document.role, document.topic, document.domain, document.source],
        document.at.timestamp(),
        document.terms,
        document.metadata,
        {lane: data.hex() for lane, data in document.vectors.items()},
    ]
    return json.dumps(fields, sort_keys=True).encode()
