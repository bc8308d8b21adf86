"""Recall: plan what is asked, gather what may answer it, rank it once for every engine, read it again."""

from __future__ import annotations

from .pipeline import Recall

__all__ = ["Recall"]
