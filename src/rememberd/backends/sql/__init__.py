"""The storage on SQL: one schema and one set of statements; only executors and dialect differ."""

from __future__ import annotations
