"""Models and the like, behind the ports of ``ports/models.py``: offline defaults first."""

from __future__ import annotations
