"""Whether an answer is the one that a page shows. ``…`` stands for anything."""

from __future__ import annotations

import json
import re
from typing import Any

ANYTHING = "…"


def parse(text: str) -> Any:
    """JSON, strictly: no name twice."""
    return json.loads(text, object_pairs_hook=_once)


def parse_answer(text: str) -> Any:
    """The JSON document of an answer; a list of them if there are several."""
    decoder, found, rest = json.JSONDecoder(), list[Any](), text.strip()
    while rest:
        document, end = decoder.raw_decode(rest)
        found.append(document)
        rest = rest[end:].lstrip()
    return found[0] if len(found) == 1 else found


def differences(shown: Any, real: Any, where: str = "") -> list[str]:
    """Where the real answer is not as shown.

    Strings may hold ``…``; a field of that name means that there may be more fields, and so does the last entry of a
    longer list. Of a number with a fraction only the type is compared.
    """
    here = where or "the answer"
    if shown == ANYTHING:
        return []
    if isinstance(shown, dict) and isinstance(real, dict):
        return _differences_of_objects(shown, real, where)
    if isinstance(shown, list) and isinstance(real, list):
        if len(shown) > 1 and shown[-1] == ANYTHING:
            shown, real = shown[:-1], real[: len(shown) - 1]
        if len(shown) != len(real):
            return [f"{here} has {len(real)} entries, not {len(shown)}"]
        pairs = enumerate(zip(shown, real, strict=True))
        return [found for i, pair in pairs for found in differences(*pair, f"{where}/{i}")]
    if isinstance(shown, str) and isinstance(real, str):
        return [] if looks_like(shown, real) else [f"{here} is {real!r}, not {shown!r}"]
    if isinstance(shown, float) and isinstance(real, float):
        return []
    return [] if type(shown) is type(real) and shown == real else [f"{here} is {real!r}, not {shown!r}"]


def looks_like(shown: str, real: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in shown.split(ANYTHING))
    return re.fullmatch(pattern, real, re.DOTALL) is not None


def lines_missing(shown: str, real: str) -> list[str]:
    """The lines of a shown output that the real one lacks, where order and white space within a line count little."""
    told = [" ".join(line.split()) for line in real.splitlines()]
    missing = []
    for line in (" ".join(line.split()) for line in shown.splitlines()):
        found = next((i for i, other in enumerate(told) if looks_like(line, other)), None)
        if line and line != ANYTHING and found is None:
            missing.append(line)
        elif found is not None:
            told = told[found:]
    return missing


def _differences_of_objects(shown: dict[str, Any], real: dict[str, Any], where: str) -> list[str]:
    found = [f"{where}/{name} is not in the answer" for name in shown if name not in real and name != ANYTHING]
    if ANYTHING not in shown:
        found += [f"{where}/{name} is not shown" for name in real if name not in shown]
    for name in shown:
        if name in real:
            found += differences(shown[name], real[name], f"{where}/{name}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError("a name stands twice in an object")
    return dict(pairs)
