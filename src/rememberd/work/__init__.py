"""Work in the background."""

from __future__ import annotations
