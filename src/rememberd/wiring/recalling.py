"""Which stages recall has, as the settings say."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from rememberd.errors import SettingsError

if TYPE_CHECKING:
    from rememberd.flow.recall.stages import Stage, Stages
    from rememberd.settings import Settings


def stages(settings: Settings) -> Stages:
    """The stages of recall by name; a name with a colon is a function of another module."""
    from rememberd.flow.recall.stages import STAGES, Stages

    names = settings.text("recall.stages").replace(",", " ").split()
    unknown = [name for name in names if name not in STAGES and ":" not in name]
    if unknown:
        raise SettingsError(
            f"recall.stages: {unknown[0]} is not a stage; use {', '.join(STAGES)}, or module:function of your own"
        )
    others = tuple(_function(name) for name in names if ":" in name)
    return Stages(frozenset(names).intersection(STAGES), others)


def _function(name: str) -> Stage:
    module, _, attribute = name.partition(":")
    try:
        function: Stage = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(f"recall.stages: {name} cannot be loaded: {error}") from error
    return function
