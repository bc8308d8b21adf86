"""What an index proposes, as columns: ranking weighs a thousand proposals at once, not one after the other."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rememberd.model.change import Noun


_NOWHERE = -1


def place_of(thread: str | None, seq: int | None) -> int:
    """A number for a message's place in its thread: the next message has the next number. -1 for what has no place."""
    if thread is None or seq is None:
        return _NOWHERE
    return (zlib.crc32(thread.encode("utf-8", "surrogatepass")) << 31) + seq


def vectors_of(data: bytes) -> NDArray[np.float32]:
    """One or several vectors, as they stand behind each other in 32-bit floats: a row for each.

    How many there are shows in their squares, which add up to 1 for each.
    """
    whole = np.frombuffer(data, "<f4")
    return whole.reshape(max(1, round(float(whole @ whole))), -1)


class Candidate(NamedTuple):
    """A proposal with its evidence: how often each term of the search stands in it, how many terms it has in all,
    the cosine per lane that both it and the search have a vector of, who said it, where and when (seconds since 1970).
    """

    noun: Noun
    id: str
    counts: tuple[int, ...]
    length: int
    cosine: Mapping[str, float]
    kind: str
    name: str | None
    place: int
    seconds: float


class Asked(Protocol):
    """A search, or the plan of one: its terms, and its vectors by lane."""

    @property
    def terms(self) -> Sequence[str]: ...
    @property
    def vectors(self) -> Mapping[str, bytes]: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proposals:
    """Candidates as columns: row i of each tells of candidate i. A cosine that there is not is NaN."""

    nouns: NDArray[np.object_]
    ids: NDArray[np.object_]
    counts: NDArray[np.float32]
    lengths: NDArray[np.float32]
    kinds: NDArray[np.object_]
    names: NDArray[np.object_]
    places: NDArray[np.int64]
    seconds: NDArray[np.float64]
    cosines: Mapping[str, NDArray[np.float32]]

    @classmethod
    def of(cls, candidates: Sequence[Candidate], asked: Asked) -> Proposals:
        return cls(
            nouns=np.array([each.noun for each in candidates], object),
            ids=np.array([each.id for each in candidates], object),
            counts=np.array([each.counts for each in candidates], np.float32).reshape(
                len(candidates), len(asked.terms)
            ),
            lengths=np.array([each.length for each in candidates], np.float32),
            kinds=np.array([each.kind for each in candidates], object),
            names=np.array([each.name for each in candidates], object),
            places=np.array([each.place for each in candidates], np.int64),
            seconds=np.array([each.seconds for each in candidates], np.float64),
            cosines={lane: np.array([each.cosine.get(lane, np.nan) for each in candidates]) for lane in asked.vectors},
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, i: int) -> Candidate:
        near = {lane: float(cosines[i]) for lane, cosines in self.cosines.items() if not np.isnan(cosines[i])}
        return Candidate(
            self.nouns[i], self.ids[i], tuple(int(count) for count in self.counts[i]), int(self.lengths[i]), near,
            self.kinds[i], self.names[i], int(self.places[i]), float(self.seconds[i]),
        )  # fmt: skip

    def take(self, rows: NDArray[Any]) -> Proposals:
        """Those of some rows, in their order; or those for which it is true."""
        return self._made_of(lambda column: column[rows], self)

    def joined(self, more: Proposals) -> Proposals:
        """These, and behind them ``more``."""
        return self._made_of(lambda *columns: np.concatenate(columns), self, more)

    @staticmethod
    def _made_of(make: Callable[..., NDArray[Any]], *parts: Proposals) -> Proposals:
        columns = {
            column.name: make(*(getattr(part, column.name) for part in parts))
            for column in fields(Proposals)
            if column.name != "cosines"
        }
        cosines = {lane: make(*(part.cosines[lane] for part in parts)) for lane in parts[0].cosines}
        return Proposals(**columns, cosines=cosines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Proposals, and the statistics that weighing words takes, over all documents in sight, filtered or not: how many
    there are, how many terms they have on average, in how many each term stands, and their mean cosine per lane."""

    proposals: Proposals
    watermark: int
    documents: int = 0
    average_length: float = 0.0
    frequencies: Mapping[str, int] = field(default_factory=dict)
    background: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def none(cls, asked: Asked, watermark: int = 0) -> Candidates:
        return cls(proposals=Proposals.of((), asked), watermark=watermark)

    @property
    def found(self) -> tuple[Candidate, ...]:
        """One by one."""
        return tuple(self.proposals[i] for i in range(len(self.proposals)))

    def without(self, left_out: Collection[tuple[Noun, str]]) -> Candidates:
        rows = zip(self.proposals.nouns.tolist(), self.proposals.ids.tolist(), strict=True)
        kept = np.array([row not in left_out for row in rows], bool)
        return replace(self, proposals=self.proposals.take(kept))
