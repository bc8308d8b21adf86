"""The remote engine: the verbs of memory over HTTP, with the same results and the same errors as at home."""

from __future__ import annotations

from .remote import RemoteEngine

__all__ = ["RemoteEngine"]
