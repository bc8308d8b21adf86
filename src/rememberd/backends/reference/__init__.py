"""The reference, in process: every port on plain dicts and lists, obviously correct rather than fast.

It is the executable specification: other backends are compared with it. Nothing here outlives the process.
"""

from __future__ import annotations

from .index import ReferenceIndex
from .place import ReferencePlace
from .storage import ReferenceStorage
from .windows import ReferenceWindows

__all__ = ["ReferenceIndex", "ReferencePlace", "ReferenceStorage", "ReferenceWindows"]
