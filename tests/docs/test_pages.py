"""Every block of every page is executed, as printed, by a reader with a fresh folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests import postgres

from .answers import differences, lines_missing
from .pages import ROOT, Block, blocks_of, name_of, pages
from .reader import Reader
from .shell import Shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHOWN_DATABASE = "postgresql://rememberd:secret@localhost/rememberd"


def _parameter(page: Path) -> object:
    needs_server = SHOWN_DATABASE in page.read_text(encoding="utf-8")
    return pytest.param(page, marks=[pytest.mark.integration] if needs_server else [], id=name_of(page))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    folder = tmp_path / "reader"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Shell(folder)
    yield made
    made.close()


@pytest.fixture
def reader(shell: Shell) -> Iterator[Reader]:
    made = Reader(shell)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("page", [_parameter(page) for page in pages()])
def test_every_block_of_a_page_works_as_printed(page: Path, shell: Shell, reader: Reader) -> None:
    text = page.read_text(encoding="utf-8")
    if SHOWN_DATABASE in text:
        shell.said[SHOWN_DATABASE] = postgres.server().fresh_database()
    for block in blocks_of(text):
        try:
            reader.try_out(block)
        except BaseException as failure:
            failure.add_note(f"{name_of(page)}, line {block.line}")
            raise


def test_both_readmes_show_the_same_blocks() -> None:
    english, chinese = (
        blocks_of((ROOT / name).read_text(encoding="utf-8")) for name in ("README.md", "README.zh-CN.md")
    )
    assert [block.language for block in english] == [block.language for block in chinese]
    assert [_code(block) for block in english] == [_code(block) for block in chinese]


def test_every_link_within_the_documentation_leads_somewhere() -> None:
    lost = [
        f"{name_of(page)}: {target}"
        for page in pages()
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not target.startswith(("http://", "https://")) and not (page.parent / target).exists()
    ]
    assert not lost


def test_a_language_that_nobody_knows_is_refused(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="nobody knows how to execute fortran"):
        reader.try_out(Block("fortran", "", 1))


def test_a_block_without_a_language_is_refused(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="without a language"):
        reader.try_out(Block("", "", 1))


def test_a_command_that_fails_is_noticed_in_any_line(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="ended with 1"):
        reader.try_out(Block("bash", "false\ntrue\n", 1))


def test_a_make_target_that_does_not_exist_is_noticed(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="no target nonsense"):
        reader.try_out(Block("bash", "make nonsense\n", 1))


def test_an_output_that_was_not_printed_is_noticed(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="not printed"):
        reader.try_out(Block("console", "$ echo one\ntwo\n", 1))


def test_an_answer_other_than_shown_is_noticed(reader: Reader) -> None:
    reader.try_out(Block("bash", "echo '{\"a\": 1}'\n", 1))
    with pytest.raises(AssertionError, match="/a is 1, not 2"):
        reader.try_out(Block("json", '{"a": 2}\n', 2))


def test_a_drawing_may_name_only_what_exists(reader: Reader) -> None:
    with pytest.raises(AssertionError, match=r"flow/nowhere\.py"):
        reader.try_out(Block("text", "flow/nowhere.py\n", 1))


def test_blocks_share_a_namespace_and_may_await(reader: Reader) -> None:
    reader.try_out(Block("python", "import asyncio\nawait asyncio.sleep(0)\nx = 1\n", 1))
    reader.try_out(Block("python", "print(x + 1)\n", 2))
    reader.try_out(Block("text", "2\n", 3))


def test_exports_of_one_block_are_there_in_the_next(reader: Reader) -> None:
    reader.try_out(Block("bash", "export NAME=Lin\n", 1))
    reader.try_out(Block("console", "$ echo $NAME\nLin\n", 2))


def test_a_fence_that_is_never_closed_is_noticed() -> None:
    with pytest.raises(ValueError, match="line 2"):
        blocks_of("text\n```python\nx = 1\n")


def test_shown_answers_may_leave_out_what_they_say_they_leave_out() -> None:
    real = {"id": "01a1", "score": 0.5, "seq": 1, "more": None}
    assert not differences({"id": "…", "score": 0.9, "seq": 1, "…": "…"}, real)
    assert differences({"id": "…", "score": 0.9, "seq": 1}, real) == ["/more is not shown"]
    assert differences({"seq": "1", "…": "…"}, real)
    assert not differences([1, "…"], [1, 2, 3])
    assert not differences([1, "…"], [1])
    assert differences([1, 2, "…"], [1])
    assert differences({"gone": 1, "…": "…"}, real) == ["/gone is not in the answer"]


def test_lines_are_looked_for_in_their_order() -> None:
    assert not lines_missing("one … three\nfour", "one two  three\nx\nfour\n")
    assert lines_missing("four\none", "one\nfour\n") == ["one"]


def _code(block: Block) -> str:
    """A block without its comments, which each language has in its own words."""
    return re.sub(r"(^|\s)#.*", "", block.text) if block.language in ("bash", "python", "yaml") else block.text
