"""Who may, and what is logged: once per call, in the engine."""

from __future__ import annotations
