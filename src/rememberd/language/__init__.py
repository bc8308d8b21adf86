"""Text as text, in Chinese and in English: terms, tokens, checks. No models, no I/O."""

from __future__ import annotations
