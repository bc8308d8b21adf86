"""The documentation, executed."""

from __future__ import annotations
