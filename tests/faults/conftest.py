"""Faults are made on places of their own, at moments that a seed decides."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from rememberd.prove.served import Place

if TYPE_CHECKING:
    from pathlib import Path

#: Models take a while to load, and have no part in this.
WITHOUT_MODELS = {"models.embedder": "none", "tokens.encoding": "estimate"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, settings=WITHOUT_MODELS)


@pytest.fixture
def random() -> Random:
    return Random(20261116)
