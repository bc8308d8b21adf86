"""Commands in this process, beside servers in others."""

from __future__ import annotations

from tests.cli.conftest import shell

__all__ = ["shell"]
