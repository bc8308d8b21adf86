"""The operator's hands: statistics, diagnosis, rebuilding, API keys."""

from __future__ import annotations
