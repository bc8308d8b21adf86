"""The parts of the documentation that are made from the code.

``python -m tests.meta.generated`` writes them; with ``--check`` it only tells which are out of date.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer.main

from rememberd import crash, errors
from rememberd.cli.exits import exit_code
from rememberd.cli.table import COMMANDS, app_for
from rememberd.model import KINDS
from rememberd.server import Gate, ServedEngine, create_app
from rememberd.server.problems import problem_of
from rememberd.settings import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import timedelta

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
OPENAPI = REFERENCE / "openapi.json"
FAULTS = REFERENCE / "faults.json"


def settings() -> str:
    rows = [
        (
            f"`{setting.name}`",
            "" if setting.default is None else f"`{setting.default}`",
            " or ".join(f"`{variable}`" for variable in setting.variables),
            setting.about
            + (f"; one of {', '.join(f'`{choice}`' for choice in setting.choices)}" if setting.choices else ""),
        )
        for setting in TABLE.values()
    ]
    return _table(("setting", "default", "variables", "is"), rows)


def error_table() -> str:
    told = dict(re.findall(r"[├└]── (\w+)\s+(.*?)(?:\s{2,}\d+)?$", errors.__doc__ or "", re.MULTILINE))
    rows = []
    for kind in error_classes():
        opening = kind in (errors.FolderInUse, errors.SettingsError, errors.MissingExtra)
        failure = _example(kind)
        status = "" if opening else str(problem_of(failure, "").status_code)
        retry = "yes" if kind.retryable else "no"
        rows.append(
            (f"`{kind.__name__}`", f"`{kind.code}`", status, str(exit_code(failure)), retry, told[kind.__name__])
        )
    return _table(("error", "code", "HTTP", "exit", "retry", "means"), rows)


def error_classes() -> list[type[errors.RememberdError]]:
    """Every error but the root, in the order of their definition."""
    classes = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]
    ours = [kind for kind in classes if issubclass(kind, errors.RememberdError) and kind is not errors.RememberdError]
    return sorted(ours, key=lambda kind: inspect.getsourcelines(kind)[1])


def kinds() -> str:
    rows = [
        (
            f"`{kind.name}`",
            _span(kind.ttl) or "for good",
            _span(kind.half_life) or "none",
            *("yes" if flag else "no" for flag in (kind.indexed, kind.evictable, kind.by_hand)),
        )
        for kind in KINDS.values()
    ]
    return _table(("kind", "lives", "half-life", "indexed", "evictable", "by hand"), rows)


def commands() -> str:
    return "\n\n".join(section for name in COMMANDS for section in _sections(f"rememberd {name}", _command(name)))


def command_names() -> list[str]:
    """Every command that does something, subcommands in full: ``memories add``."""
    return [
        " ".join([name, *rest])
        for name in COMMANDS
        for rest in ([[sub] for sub in getattr(_command(name), "commands", {})] or [[]])
    ]


def faults() -> str:
    """What ``make faults`` wrote down when it was last run."""
    rows = []
    for fault, told in json.loads(FAULTS.read_text(encoding="utf-8")).items():
        lost = f"{told['lost']:,} of {told['acknowledged']:,}"
        if told["control"]:
            lost = f"in {told['lost_in']} of {told['tries']} tries, as it has to be"
        busy = "not noted" if told["busy"] is None else f"{told['busy']:.0f}"
        rows.append((fault, f"{told['tries']:,}", lost, str(told["duplicated"]), _ready_again(told), busy))
    return _table(("fault", "tries", "lost", "duplicated", "ready again", "busy"), rows)


def _ready_again(told: dict[str, Any]) -> str:
    if told["ready_again"] is None:
        return ""
    longest = f"≤ {max(told['ready_again'], 0.05):.1f} s"
    alone = told.get("ready_alone")
    return longest if alone is None or told["ready_again"] - alone < 0.5 else f"{longest}; alone ≤ {alone:.1f} s"


def crash_points() -> str:
    return _table(("crash point", "is passed when"), [(f"`{name}`", about) for name, about in crash.POINTS.items()])


def openapi() -> str:
    app = create_app(cast("ServedEngine", None), gate=Gate(keyless=True))
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "settings": settings,
    "errors": error_table,
    "kinds": kinds,
    "commands": commands,
    "faults": faults,
    "crash_points": crash_points,
}


def documents() -> Iterator[tuple[Path, str]]:
    """Every generated file, with the text that it has to have."""
    for page in sorted(REFERENCE.glob("*.md")):
        yield page, _filled(page.read_text(encoding="utf-8"))
    yield OPENAPI, openapi()


def out_of_date() -> list[str]:
    return [
        str(path.relative_to(ROOT))
        for path, text in documents()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def _filled(text: str) -> str:
    def fill(found: re.Match[str]) -> str:
        return f"{found[1]}\n{PAGES[found[2]]()}\n{found[3]}"

    return re.sub(r"(<!-- generated: (\w+) -->)\n.*?(<!-- end -->)", fill, text, flags=re.DOTALL)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _span(span: timedelta | None) -> str:
    return "" if span is None else f"{span.days} day{'' if span.days == 1 else 's'}"


def _example(kind: type[errors.RememberdError]) -> errors.RememberdError:
    if issubclass(kind, errors.InvalidRequest):
        return kind([])
    return kind("extra", "something") if kind is errors.MissingExtra else kind("example")


def _command(name: str) -> Any:
    return cast("Any", typer.main.get_command(app_for([name]))).commands[name]


def _sections(name: str, command: Any) -> Iterator[str]:
    subcommands = getattr(command, "commands", {})
    if subcommands:
        yield f"## `{name}`\n\n{_paragraph(command.help)}"
        for sub, subcommand in subcommands.items():
            yield f"### `{name} {sub}`\n\n{_described(name, sub, subcommand)}"
    else:
        yield f"## `{name}`\n\n{_described(name, '', command)}"


def _described(name: str, sub: str, command: Any) -> str:
    arguments = [param for param in command.params if not param.opts[0].startswith("-")]
    options = [param for param in command.params if param.opts[0].startswith("-")]
    shown = [_argument(param) for param in arguments]
    usage = " ".join(part for part in (name, sub, *shown, "[OPTIONS]") if part)
    rows = [(f"`{_argument(param)}`", "", param.help or "") for param in arguments]
    rows += [(_option(param), _default(param), param.help or "") for param in options]
    return f"`{usage}`\n\n{_paragraph(command.help)}\n\n{_table(('option', 'default', 'is'), rows)}"


def _argument(param: Any) -> str:
    word = str(param.metavar or param.name).upper()
    return word if param.required else f"[{word}]"


def _option(param: Any) -> str:
    takes = "" if param.is_flag else f" {param.metavar or param.name.upper()}"
    return ", ".join(f"`{name}{takes}`" for name in sorted(param.opts, key=len))


def _default(param: Any) -> str:
    return "" if param.is_flag or param.default is None else f"`{param.default}`"


def _paragraph(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


def main() -> int:
    if "--check" not in sys.argv:
        for path, text in documents():
            path.write_text(text, encoding="utf-8")
    late = out_of_date()
    if late:
        sys.stderr.write(f"out of date: {', '.join(late)}; python -m tests.meta.generated\n")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
