"""The verbs of the picture. A stage turns one model type into another and sees only ports, model and language."""

from __future__ import annotations
