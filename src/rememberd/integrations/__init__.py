"""One room per framework, each over the public API."""

from __future__ import annotations
