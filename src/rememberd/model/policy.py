"""What tenants may have their own way: so far the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .thread import WindowRule


@dataclass(frozen=True, slots=True)
class Policy:
    """The default rules, and those of single tenants."""

    window: WindowRule = field(default_factory=WindowRule)
    windows: Mapping[str, WindowRule] = field(default_factory=dict)

    def window_of(self, tenant: str) -> WindowRule:
        return self.windows.get(tenant, self.window)
