"""Times in English: yesterday, last Tuesday, in May 2023, two weeks ago, the past three days …"""

from __future__ import annotations

from .sentence import english_times

__all__ = ["english_times"]
