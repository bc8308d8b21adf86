"""Time as people put it, in Chinese and in English, resolved to ranges in UTC.

"Yesterday" means another day in every message and in every place, so an expression is resolved from the moment it was
written or asked, in the time zone of the writer. What is only perhaps a time, "may I", 一天到晚, resolves to nothing.
"""

from __future__ import annotations

from .resolve import Span, resolve, shown
from .saying import asks_when_said, besides

__all__ = ["Span", "asks_when_said", "besides", "resolve", "shown"]
