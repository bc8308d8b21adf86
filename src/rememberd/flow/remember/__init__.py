"""Remembering: from what is handed in, or changed, to the next revision of a memory item."""

from __future__ import annotations

from .recognise import recognised
from .revisions import deleted, first_revision, next_revision

__all__ = ["deleted", "first_revision", "next_revision", "recognised"]
