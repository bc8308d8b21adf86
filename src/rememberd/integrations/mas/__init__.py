"""The class names that multi-agent systems know, as thin shapes over memory."""

from __future__ import annotations

from .batch import BatchMessageProcessor

__all__ = ["BatchMessageProcessor"]
