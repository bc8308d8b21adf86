"""Benches: figures, not tests."""

from __future__ import annotations
