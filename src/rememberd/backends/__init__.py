"""The engines: one folder each, with modules named like the ports they keep."""

from __future__ import annotations
