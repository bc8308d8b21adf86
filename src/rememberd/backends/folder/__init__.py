"""One folder and nothing else: its lock, and the index beside the database."""

from __future__ import annotations
