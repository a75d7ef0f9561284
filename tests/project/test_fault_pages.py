# SPDX-License-Identifier: Apache-2.0
"""docs/faults: each row names tests that hold it, and each of them is there."""

import re

import pytest
from tree import ROOT, files, name

PAGES = sorted((ROOT / "docs/faults").glob("[a-z]*.md"))
ROW = re.compile(r"^\| (?!seen |-)(.+) \|$", re.M)
NAMED = re.compile(r"`([^`]+)`")
C_TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
C_TESTS = {f"{suite}.{test}" for path in files("_test.cc", ".h", ".cc")
           for suite, test in C_TEST.findall(path.read_text())}


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]


def exists(test: str) -> bool:
    """`Suite.Test`, `tests/…/test_x.py::test_y` or the path of a script."""
    path, _, function = test.partition("::")
    if "/" not in path:
        return test in C_TESTS
    file = ROOT / path
    return file.is_file() and (not function or f"def {function}(" in file.read_text())


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_row_names_tests_that_are_there(page):
    rows = [cells(row) for row in ROW.findall(page.read_text())]
    assert rows, "no row"
    for row in rows:
        assert len(row) == 4, row
        seen, _, _, held = row
        tests = NAMED.findall(held)
        assert tests or held.startswith("not guarded: "), f"{seen}: no test, and no reason"
        for test in tests:
            assert exists(test), f"{seen}: {test} is not there"
