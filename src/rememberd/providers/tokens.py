"""Exact token counts: tiktoken with a vocabulary from the models folder, loaded when first used. No network."""

from __future__ import annotations

import asyncio
import binascii
import importlib
import importlib.util
import logging
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rememberd import telemetry
from rememberd.errors import ModelUnavailable
from rememberd.language.tokens import estimate

from .catalogue import VOCABULARIES
from .model_folder import CURE, pinned, sized_state

if TYPE_CHECKING:
    from pathlib import Path

_REMEMBERED = 4096  # counts of texts: the same lines are fitted again and again
_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_LEAD = r"[^\r\n\p{L}\p{N}]"

#: How each encoding cuts a text into the pieces that its merges stay within, as published.
_PATTERNS = {
    "o200k_base": "|".join(
        [
            rf"{_LEAD}?[{_UPPER}]*[{_LOWER}]+{_CONTRACTIONS}?",
            rf"{_LEAD}?[{_UPPER}]+[{_LOWER}]*{_CONTRACTIONS}?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
    "cl100k_base": "|".join(
        [
            "'(?i:[sdmt]|ll|ve|re)",
            rf"{_LEAD}?+\p{{L}}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        ]
    ),
}


class ExactCounter:
    """Counts as the models of an encoding do; the words of special tokens count as ordinary text.

    Raises ``ModelUnavailable`` if the vocabulary or tiktoken is not there. If the vocabulary turns out damaged when it
    is loaded, the log says so, and tokens are estimated.
    """

    def __init__(self, encoding: str, folder: Path) -> None:
        self._name, self._folder = encoding, folder
        self._encoding: Any = None
        self._damaged = False
        self._lock = threading.Lock()
        self._counted = lru_cache(_REMEMBERED)(self._encode)
        if sized_state(folder, VOCABULARIES[encoding]) != "ok":
            raise ModelUnavailable(f"the vocabulary {encoding} is missing or damaged; {CURE}")
        if importlib.util.find_spec("tiktoken") is None:
            raise ModelUnavailable("tiktoken is not installed; pip install 'rememberd[models]'")

    async def prepare(self) -> None:
        """Load the vocabulary in a thread: it takes half a second, in which others want to be served."""
        if self._encoding is None and not self._damaged:
            await asyncio.to_thread(self._load)

    def __call__(self, text: str) -> int:
        if self._encoding is None and not self._damaged:
            self._load()
        return estimate(text) if self._damaged else self._counted(text)

    def _encode(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))

    def _load(self) -> None:
        with self._lock:
            if self._encoding is not None or self._damaged:
                return
            try:
                words = pinned(self._folder, VOCABULARIES[self._name]).read_bytes().split()
            except ModelUnavailable as failure:
                self._damaged = True
                telemetry.log("tokens_estimated", level=logging.WARNING, error=failure.code, encoding=self._name)
                return
            ranks = dict(zip(map(binascii.a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
            self._encoding = importlib.import_module("tiktoken").Encoding(
                self._name, pat_str=_PATTERNS[self._name], mergeable_ranks=ranks, special_tokens={}
            )
            ranks.clear()  # it has them in a form of its own; in ours they take tens of megabytes
