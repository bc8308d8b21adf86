"""What operators are shown: counts, findings, progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class JobCounts:
    waiting: int = 0
    running: int = 0
    dead: int = 0


@dataclass(frozen=True, slots=True)
class TokenTotals:
    """Tokens of the hits found, of the contexts handed out, and the difference, since the process began."""

    raw: int = 0
    condensed: int = 0
    saved: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work has come. ``equal`` says whether a rebuilt view is as the old one was, if asked."""

    done: int
    total: int
    equal: bool | None = None


@dataclass(frozen=True, slots=True)
class ViewProgress:
    """How far the index has followed the feed; ``unembedded`` counts changes whose vectors are still owed."""

    head: int = 0
    applied: int = 0
    unembedded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneProgress:
    """The vectors of one lane and model: ``serving`` queries, ``going`` (serving until what is coming is whole),
    ``coming``, or only ``kept``. ``owed`` counts the texts that it has not looked at yet; ``problem`` says why it is
    not getting on.
    """

    lane: str
    model: str
    state: Literal["serving", "going", "coming", "kept"]
    owed: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """``under_way`` is the long work that the process is doing for operators."""

    tenant: str | None
    messages: int
    memories: int
    jobs: JobCounts = JobCounts()
    spool: int = 0
    dead_letters: int = 0
    tokens: TokenTotals = TokenTotals()
    index: ViewProgress = ViewProgress()
    lanes: tuple[LaneProgress, ...] = ()
    storage: str = ""
    under_way: dict[str, Progress] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settled:
    """Whether everything acknowledged before the call is searchable; ``degraded`` names what cannot be."""

    settled: bool
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check of the doctor: its state, what was seen, and the cure where there is one."""

    check: str
    state: Literal["ok", "warning", "broken"]
    detail: str
    cure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingValue:
    """A setting, its value as people may see it, and where it came from."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    findings: tuple[Finding, ...] = ()
    settings: tuple[SettingValue, ...] = field(default_factory=tuple)

    @property
    def healthy(self) -> bool:
        return all(finding.state != "broken" for finding in self.findings)
