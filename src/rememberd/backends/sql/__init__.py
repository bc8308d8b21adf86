"""The storage on SQL: one schema and one set of statements for SQLite and PostgreSQL; only executors and dialect differ."""

from __future__ import annotations
