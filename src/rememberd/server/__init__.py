"""The HTTP API: one file per resource, errors as problem+json. Knows the engine it serves and no backend."""

from __future__ import annotations

from .app import create_app
from .gate import Gate, ServedEngine
from .reading import Limits

__all__ = ["Gate", "Limits", "ServedEngine", "create_app"]
