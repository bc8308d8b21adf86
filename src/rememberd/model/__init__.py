"""The nouns: frozen values without I/O. Import them from here."""

from __future__ import annotations

from .actor import Actor, ApiKey, NewApiKey
from .audit import AuditEntry
from .change import Change, Operation
from .context import Citation, Context, Explanation, Fate, Hit, Narrowed, Tokens, Verdict, WindowMessage
from .failure import DrainRule, Failure, FailureState
from .job import Job, JobState
from .kinds import KINDS, MESSAGE, Kind
from .memory import MemoryItem, MemoryPatch, NewMemory
from .message import Message, NewMessage, Role
from .page import Page
from .policy import BackupRule, Policy
from .query import NO_FILTERS, Filters, Query
from .receipt import Receipt, Receipts, Status
from .scope import DEFAULT_TENANT, Scope
from .stats import (
    Diagnosis,
    Finding,
    JobCounts,
    LaneProgress,
    Progress,
    SettingValue,
    Settled,
    Stats,
    TokenTotals,
    ViewProgress,
)
from .thread import ThreadState, WindowRule
from .turn import Outcome, Turn

__all__ = [
    "DEFAULT_TENANT",
    "KINDS",
    "MESSAGE",
    "NO_FILTERS",
    "Actor",
    "ApiKey",
    "AuditEntry",
    "BackupRule",
    "Change",
    "Citation",
    "Context",
    "Diagnosis",
    "DrainRule",
    "Explanation",
    "Failure",
    "FailureState",
    "Fate",
    "Filters",
    "Finding",
    "Hit",
    "Job",
    "JobCounts",
    "JobState",
    "Kind",
    "LaneProgress",
    "MemoryItem",
    "MemoryPatch",
    "Message",
    "Narrowed",
    "NewApiKey",
    "NewMemory",
    "NewMessage",
    "Operation",
    "Outcome",
    "Page",
    "Policy",
    "Progress",
    "Query",
    "Receipt",
    "Receipts",
    "Role",
    "Scope",
    "SettingValue",
    "Settled",
    "Stats",
    "Status",
    "ThreadState",
    "TokenTotals",
    "Tokens",
    "Turn",
    "Verdict",
    "ViewProgress",
    "WindowMessage",
    "WindowRule",
]
