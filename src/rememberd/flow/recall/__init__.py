"""Recall: plan what is asked, gather what may answer it, rank it once for every engine, read it again."""

from __future__ import annotations

from .gather import Found, gather
from .plan import Plan, plan
from .rank import rank
from .read import read_hits

__all__ = ["Found", "Plan", "gather", "plan", "rank", "read_hits"]
