"""What makes vectors and counts tokens, as the settings say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rememberd.errors import ModelUnavailable, SettingsError
from rememberd.language.tokens import estimate
from rememberd.ports.models import space_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rememberd.language.tokens import Counter
    from rememberd.ports.models import Embedder
    from rememberd.ports.vectors import Space
    from rememberd.providers.pull import Models
    from rememberd.settings import Settings


def models(settings: Settings) -> Models:
    """The folder of the fetched models, and where they come from."""
    from rememberd.providers.model_folder import default_folder
    from rememberd.providers.pull import Models

    folder = settings.maybe("models.folder")
    return Models(Path(folder).expanduser() if folder else default_folder(), settings.maybe("models.source"))


def embedders(settings: Settings) -> tuple[tuple[Embedder, ...], dict[str, str]]:
    """What makes vectors; or nothing, and why."""
    from rememberd.providers.bridge import BridgeLane
    from rememberd.providers.embed import TestEmbedder
    from rememberd.providers.onnx import local_lanes

    chosen = settings.text("models.embedder")
    bridge = (BridgeLane(chinese=True), BridgeLane(chinese=False)) if settings.text("models.bridge") == "use" else ()
    if bridge and chosen != "auto":
        raise SettingsError("models.bridge goes with the fetched models: models.embedder must be auto")
    if chosen == "none":
        return (), {"vectors": "models.embedder is none, so recall goes by words alone"}
    if chosen == "test":
        return (TestEmbedder(settings.maybe("models.name") or "test-1"),), {}
    if chosen == "openai":
        return (_endpoint(settings),), {}
    if chosen == "fastembed":
        return (_fastembed(settings),), {}
    return (*local_lanes(models(settings).folder), *bridge), {}


def revive(settings: Settings, space: Space) -> Embedder | None:
    """What made the vectors of a space under earlier settings, if it can be made again."""
    from rememberd.providers.bridge import BridgeLane
    from rememberd.providers.embed import TestEmbedder
    from rememberd.providers.fastembed import FastembedEmbedder
    from rememberd.providers.onnx import local_lanes
    from rememberd.providers.openai import OpenAIEmbedder

    recipe = space.recipe
    made: list[Embedder] = []
    if recipe.get("embedder") == "test":
        made = [TestEmbedder(recipe["name"])]
    elif recipe.get("embedder") == "openai":
        same = recipe["url"] == settings.maybe("models.url")
        api_key = settings.maybe("models.api_key") if same else None  # an API key is for the endpoint it was set for
        made = [OpenAIEmbedder(recipe["url"], recipe["name"], int(recipe["dimension"]), api_key)]
    elif recipe.get("embedder") == "fastembed":
        made = [FastembedEmbedder(Path(recipe["path"]), recipe["name"], int(recipe["dimension"]))]
    elif recipe.get("embedder") == "bridge":
        made = [BridgeLane(chinese=True), BridgeLane(chinese=False)]
    else:
        made = list(local_lanes(models(settings).folder))
    return next((embedder for embedder in made if space_of(embedder) == space), None)


def _endpoint(settings: Settings) -> Embedder:
    from rememberd.providers.openai import OpenAIEmbedder

    _require_set(settings, "models.url", "models.name", "models.dimension")
    return OpenAIEmbedder(
        settings.text("models.url"),
        settings.text("models.name"),
        settings.integer("models.dimension"),
        settings.maybe("models.api_key"),
    )


def _fastembed(settings: Settings) -> Embedder:
    from rememberd.providers.fastembed import FastembedEmbedder

    _require_set(settings, "models.path", "models.name", "models.dimension")
    folder = Path(settings.text("models.path")).expanduser()
    return FastembedEmbedder(folder, settings.text("models.name"), settings.integer("models.dimension"))


def _require_set(settings: Settings, *names: str) -> None:
    unset = [name for name in names if not settings.maybe(name)]
    if unset:
        chosen = settings.text("models.embedder")
        raise SettingsError(f"models.embedder is {chosen}, but {', '.join(unset)} must be set too")


def counter(settings: Settings) -> tuple[Counter, Callable[[], Awaitable[None]]]:
    """What counts tokens, and what has to be waited for before it does."""
    from rememberd.providers.tokens import ExactCounter

    encoding = settings.text("tokens.encoding")
    if encoding == "estimate":
        return estimate, _nothing_to_load
    try:
        exact = ExactCounter("o200k_base" if encoding == "auto" else encoding, models(settings).folder)
    except ModelUnavailable as failure:
        if encoding == "auto":
            return estimate, _nothing_to_load
        raise SettingsError(f"tokens.encoding is {encoding}, but {failure.detail}") from failure
    return exact, exact.prepare


async def _nothing_to_load() -> None:
    """An estimate needs no vocabulary."""
