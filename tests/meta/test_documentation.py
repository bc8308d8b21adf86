"""What there is, is documented; what is documented, there is."""

from __future__ import annotations

import json
import re
import tomllib

from rememberd.settings import TABLE, load_settings

from .generated import OPENAPI, REFERENCE, ROOT, command_names, error_classes, out_of_date


def _text(*path: str) -> str:
    return ROOT.joinpath(*path).read_text(encoding="utf-8")


def test_the_generated_pages_and_the_openapi_document_are_up_to_date() -> None:
    assert not out_of_date(), "run: python -m tests.meta.generated"


def test_every_setting_is_documented() -> None:
    page = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    assert [name for name in TABLE if f"`{name}`" not in page] == []


def test_every_command_is_documented() -> None:
    headings = set(
        re.findall(r"^##+ `rememberd ([^`]+)`$", (REFERENCE / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(command_names()) - headings == set()


def test_every_route_is_documented() -> None:
    page = (REFERENCE / "http.md").read_text(encoding="utf-8")
    missing = [path for path in json.loads(OPENAPI.read_text(encoding="utf-8"))["paths"] if path not in page]
    assert missing == []


def test_every_error_is_documented() -> None:
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    assert [kind.__name__ for kind in error_classes() if f"`{kind.__name__}`" not in page] == []


def test_every_direct_dependency_has_its_line_and_no_other_has() -> None:
    project = tomllib.loads(_text("pyproject.toml"))["project"]
    extras = [wanted for extra in project["optional-dependencies"].values() for wanted in extra]
    developing = [line for line in _text("requirements", "dev.in").splitlines() if line and not line.startswith("#")]
    wanted = {_package(line) for line in [*project["dependencies"], *extras, *developing]}
    assert set(re.findall(r"^\| `([^`]+)` \|", _text("docs", "dependencies.md"), re.MULTILINE)) == wanted


def test_every_room_of_the_tree_is_in_the_architecture() -> None:
    rooms = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / "src" / "rememberd").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    drawn = set(re.findall(r"^  ([\w.]+/?) ", _text("ARCHITECTURE.md"), re.MULTILINE))
    assert drawn == rooms


def test_the_import_order_of_the_architecture_is_the_one_that_is_checked() -> None:
    contract = re.search(r"^layers =\n((?:    .*\n)+)", _text(".importlinter"), re.MULTILINE)
    assert contract is not None
    layers = [line.strip().replace("rememberd.", "") for line in contract[1].splitlines()]
    written = re.search(r"`(cli → [^`]+)`", _text("ARCHITECTURE.md"))
    assert written is not None
    assert " ".join(written[1].split()).split(" → ") == [layer for layer in layers if layer != "__main__"]


def test_the_settings_file_shows_every_setting_at_its_default_and_changes_nothing() -> None:
    shown = _text("config", "memory.yaml")
    assert load_settings(ROOT / "config" / "memory.yaml", environment={}, dotenv=None).values == {
        name: setting.default for name, setting in TABLE.items()
    }
    uncommented = re.sub(r"^# (?=[a-z_]+:|  )", "", shown, flags=re.MULTILINE)
    names, group = list[str](), ""
    for line in uncommented.partition("tenants:")[0].splitlines():
        if found := re.match(r"^([a-z_]+):$", line):
            group = found[1]
        elif found := re.match(r"^  (\w+): (\S+)", line):
            name = f"{group}.{found[1]}"
            default = TABLE[name].default
            assert found[2] == ("null" if default is None else str(default)), name
            names.append(name)
    assert names == list(TABLE)


def test_every_decision_is_listed_and_has_its_four_parts() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = _text("docs", "decisions", "README.md")
    for page in sorted(folder.glob("2*.md")):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Options", "Choice", "Consequences"], (
            page.name
        )
        assert page.name in listed


def test_the_changelog_knows_the_version() -> None:
    version = re.search(r'__version__ = "([^"]+)"', _text("src", "rememberd", "version.py"))
    assert version is not None
    assert f"## [{version[1]}]" in _text("CHANGELOG.md")


def _package(requirement: str) -> str:
    """The name of a requirement, with its extra: ``sqlalchemy[asyncio]``."""
    found = re.match(r"[\w.-]+(\[[\w,]+\])?", requirement)
    assert found is not None, requirement
    return found[0]
