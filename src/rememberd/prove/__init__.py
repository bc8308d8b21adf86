"""What shows that nothing acknowledged is ever lost: faults, made on purpose, and what each of them cost."""

from __future__ import annotations
