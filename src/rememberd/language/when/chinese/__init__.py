"""Times in Chinese: 昨天, 上周三, 去年五月, 三天前, 最近三天, 2023年5月3日下午两点 …"""

from __future__ import annotations

from .sentence import chinese_times

__all__ = ["chinese_times"]
