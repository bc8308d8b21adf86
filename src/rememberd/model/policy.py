"""Rules that settings give: the window, which tenants may have their own way, and backups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from .thread import WindowRule


@dataclass(frozen=True, slots=True)
class BackupRule:
    """A backup once in ``every`` span of time (none, if that is nothing), of which the last ``keep`` stay."""

    every: timedelta = timedelta()
    keep: int = 7


@dataclass(frozen=True, slots=True)
class Policy:
    """The default rules, and those of single tenants."""

    window: WindowRule = field(default_factory=WindowRule)
    windows: Mapping[str, WindowRule] = field(default_factory=dict)
    backup: BackupRule = field(default_factory=BackupRule)

    def window_of(self, tenant: str) -> WindowRule:
        return self.windows.get(tenant, self.window)
