"""The seeded defects of ``make mutants`` still fit the code, and the tests that they name exist."""

from __future__ import annotations

import ast

import pytest

from .defects import ROOT, Defect, defects


def test_there_are_at_least_ten() -> None:
    assert len(defects()) >= 10


@pytest.mark.parametrize("defect", defects(), ids=lambda defect: defect.name)
def test_a_defect_has_its_place_and_leaves_the_code_readable(defect: Defect) -> None:
    ast.parse(defect.seeded_in(ROOT))


@pytest.mark.parametrize("defect", defects(), ids=lambda defect: defect.name)
def test_the_tests_that_a_defect_names_exist(defect: Defect) -> None:
    assert defect.red
    for test in defect.red:
        file, _, name = test.partition("::")
        written = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name.partition("[")[0] in {node.name for node in ast.walk(written) if isinstance(node, ast.FunctionDef)}


def test_a_defect_that_lost_its_place_is_noticed() -> None:
    lost = Defect("lost", "", "src/rememberd/version.py", "nowhere in there", "", ())
    with pytest.raises(ValueError, match="0 times, not once"):
        lost.seeded_in(ROOT)
