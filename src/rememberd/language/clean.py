"""Which text can be kept as it is: one policy for ids, content and metadata."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]")


def unkeepable(text: str) -> str | None:
    """What makes a text impossible to keep in every engine, or None."""
    if "\x00" in text:
        return "contains a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "contains a lone surrogate, which is not Unicode text"
    return None


def unfit_id(text: str) -> str | None:
    """What makes a text unfit as an id, or None."""
    if not text:
        return "must not be empty"
    if text != text.strip():
        return "must not begin or end with white space"
    return "contains a control character" if _CONTROL.search(text) else None
