"""A block: what one apply tells of a tenant, in columns, as the file holds it and a shelf takes it in.

Blocks are a log: what a later one says of a thing goes before what an earlier one said. Small ones become one in time.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import apsw
import msgspec
import numpy as np
from numpy.typing import NDArray

from rememberd.model.change import Noun
from rememberd.ports.candidates import place_of, vectors_of
from rememberd.ports.index import Document, Embedded, Gone

from .columns import coded
from .lane import Packed, packed
from .words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The address of a thing within its tenant: its noun and its id.
Thing: TypeAlias = tuple[Noun, str]

Numbers: TypeAlias = NDArray[np.uint32]

#: The strings that are held of a document.
STRINGS = ("user", "kind", "role", "agent", "thread", "topic", "domain", "source", "name")

_NUMBERS: dict[str, np.dtype[Any]] = {
    "seconds": np.dtype("<f8"),
    "places": np.dtype("<i8"),
    "lengths": np.dtype("<f4"),
    "sizes": np.dtype("<u4"),
    "terms": np.dtype("<u4"),
    "counts": np.dtype("u1"),
}

_CHECKSUM = 4  # bytes

_to_bytes = msgspec.msgpack.Encoder().encode
_metadata = msgspec.json.Encoder(order="deterministic").encode


class Strings(NamedTuple):
    """Different strings, and for each row the place of its own among them."""

    values: list[str | None]
    codes: Numbers


class Leg(NamedTuple):
    """Vectors of one space and dimension, and for each the place of its thing among those that have vectors."""

    space: str
    things: Numbers
    vectors: Packed


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The vectors are of the documents, and behind them of the things that were embedded since they were told."""

    documents: list[Thing]
    embedded: list[Thing]
    gone: list[Thing]
    strings: Mapping[str, Strings]
    numbers: Mapping[str, NDArray[Any]]
    metadata: list[bytes]
    legs: list[Leg]

    def __len__(self) -> int:
        return len(self.documents) + len(self.embedded) + len(self.gone)

    @classmethod
    def of(cls, changes: Iterable[Document | Embedded | Gone]) -> Block:
        """What is to be held of a tenant after some changes."""
        documents: dict[Thing, Document] = {}
        embedded: dict[Thing, Mapping[str, bytes]] = {}
        gone: dict[Thing, None] = {}
        for change in changes:
            thing = (change.noun, change.id)
            if isinstance(change, Embedded):
                if thing in documents:
                    documents[thing] = replace(documents[thing], vectors=change.vectors)
                elif thing not in gone:
                    embedded[thing] = change.vectors
                continue
            for said in (documents, embedded, gone):
                said.pop(thing, None)
            if isinstance(change, Document):
                documents[thing] = change
            else:
                gone[thing] = None
        told = list(documents.values())
        return cls(
            documents=list(documents),
            embedded=list(embedded),
            gone=list(gone),
            **(_columns(told) if told else _NO_COLUMNS),
            legs=_legs([*(document.vectors for document in told), *embedded.values()]),
        )

    def encoded(self) -> bytes:
        data = _to_bytes(
            (
                [self.documents, self.embedded, self.gone],
                {name: (strings.values, strings.codes.tobytes()) for name, strings in self.strings.items()},
                {name: column.tobytes() for name, column in self.numbers.items()},
                self.metadata,
                [
                    (space, things.tobytes(), vectors.codes.shape[1], vectors.scales.tobytes(), vectors.codes.tobytes())
                    for space, things, vectors in self.legs
                ],
            )
        )
        return _checksum(data) + data

    @classmethod
    def decoded(cls, data: bytes) -> Block:
        """What was encoded; raises ``apsw.CorruptError`` if it is not what it was."""
        whole = memoryview(data)
        if whole[:_CHECKSUM] != _checksum(whole[_CHECKSUM:]):
            raise apsw.CorruptError("a block of the index is damaged")
        (documents, embedded, gone), strings, numbers, metadata, legs = _from_bytes(whole[_CHECKSUM:])
        return cls(
            documents=documents,
            embedded=embedded,
            gone=gone,
            strings={name: Strings(values, np.frombuffer(codes, "<u4")) for name, (values, codes) in strings.items()},
            numbers={name: np.frombuffer(column, _NUMBERS[name]) for name, column in numbers.items()},
            metadata=metadata,
            legs=[
                Leg(
                    space,
                    np.frombuffer(things, "<u4"),
                    Packed(np.frombuffer(scales, "<f4"), np.frombuffer(codes, np.int8).reshape(-1, dimension)),
                )
                for space, things, dimension, scales, codes in legs
            ],
        )


_from_bytes = msgspec.msgpack.Decoder(
    tuple[
        tuple[list[Thing], list[Thing], list[Thing]],
        dict[str, tuple[list[str | None], bytes]],
        dict[str, bytes],
        list[bytes],
        list[tuple[str, bytes, int, bytes, bytes]],
    ]
).decode


def _checksum(data: bytes | memoryview) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "little")


def _columns(documents: Sequence[Document]) -> dict[str, Any]:
    """What is held of documents besides their addresses and vectors."""
    sizes, terms, counts = counted([document.terms for document in documents])
    return {
        "strings": {name: Strings(*coded([getattr(each, name) for each in documents])) for name in STRINGS},
        "numbers": {
            "seconds": np.array([document.at.timestamp() for document in documents], np.float64),
            "places": np.array([place_of(document.thread, document.seq) for document in documents], np.int64),
            "lengths": np.array([len(document.terms) for document in documents], np.float32),
            "sizes": sizes,
            "terms": terms,
            "counts": counts,
        },
        "metadata": [_metadata(document.metadata) if document.metadata else b"" for document in documents],
    }


_NO_COLUMNS = _columns(())


def _legs(having: Sequence[Mapping[str, bytes]]) -> list[Leg]:
    """The vectors of things, by space and dimension."""
    found: dict[tuple[str, int], tuple[list[int], list[NDArray[np.float32]]]] = {}
    for thing, spaces in enumerate(having):
        for space, data in spaces.items():
            vectors = vectors_of(data)
            things, parts = found.setdefault((space, vectors.shape[1]), ([], []))
            things += [thing] * len(vectors)
            parts.append(vectors)
    return [
        Leg(space, np.array(things, np.uint32), packed(np.concatenate(parts)))
        for (space, _), (things, parts) in found.items()
    ]
