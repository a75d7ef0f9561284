# SPDX-License-Identifier: Apache-2.0
"""What every source file keeps to: its size, its licence line, its format, its words."""

import pathlib
import re
import subprocess

import pytest
from tree import ROOT, files, is_text, name

CODE = (".h", ".cc", ".py", ".cmake", "CMakeLists.txt")
MAX_LINES = 600


def scripts() -> list[pathlib.Path]:
    return [p for p in files() if p.suffix == "" and is_text(p) and p.read_text()[:2] == "#!"]


def test_files_stay_small():
    large = {name(p): n for p in files(*CODE) if (n := len(p.read_text().splitlines())) > MAX_LINES}
    assert not large, f"over {MAX_LINES} lines: one job a file, so split them"


def test_every_source_names_its_licence():
    without = [
        name(path)
        for path in [*files(*CODE), *scripts()]
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(path.read_text().splitlines()[:2])
    ]
    assert not without


def test_headers_open_with_what_they_are():
    lacking = []
    for path in files(".h"):
        text = path.read_text()
        once = "#pragma once" in text or path.name.endswith("-inl.h")  # those are made to be repeated
        if not once:
            lacking.append(name(path))
        elif "/// \\file " not in "\n".join(text.splitlines()[:3]):
            lacking.append(name(path))
    assert not lacking, "each begins with `/// \\file <one plain sentence>`"


def test_clang_format_changes_nothing():
    sources = [str(p) for p in files(".h", ".cc")]
    done = subprocess.run(
        ["clang-format-14", "--dry-run", "-Werror", *sources], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_scripts_can_be_run_and_parse():
    assert scripts()
    for path in scripts():
        assert path.stat().st_mode & 0o111, f"{name(path)} is not executable"
        if "bash" in path.read_text().splitlines()[0]:
            assert subprocess.run(["bash", "-n", path]).returncode == 0


def test_no_two_files_of_python_tests_have_one_name():
    """pytest imports them by name alone, and collects nothing if two are the same."""
    names = [path.name for path in files(".py") if path.name.startswith("test_")]
    assert sorted(names) == sorted(set(names))


def test_every_test_file_is_found_by_its_runner():
    for path in files("_test.cc"):
        assert "src" in path.relative_to(ROOT).parts[:1], f"{name(path)}: ctest finds it only in src/"
    for path in files(".py"):
        if "def test_" in path.read_text():
            assert path.name.startswith("test_"), f"{name(path)}: pytest does not collect it"


# Spelled in pieces, so that this file does not hold them.
FORBIDDEN = {
    "a registry's host": "|".join(["pypi" + r"\.org", "pythonhosted" + r"\.org", "deb" + r"\.debian\.org"]),
    "a path of one machine": "|".join(["/" + "work/", "/" + "tmp/venv", "/" + "root/"]),
    "unfinished work": "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X:"]),
    "a page that is not in the project": "|".join([r"DESIGN" + r"\.md", r"SPEC" + r"\.md", r"PITFALLS", r"REAL-PARTS", r"STYLE" + r"\.md"]),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what):
    pattern = re.compile(FORBIDDEN[what])
    found = []
    for path in files():
        if not is_text(path) or "corpus" in path.parts or path.is_relative_to(ROOT / "tests/data"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if pattern.search(line) and path != pathlib.Path(__file__).resolve():
                found.append(f"{name(path)}:{number}: {line.strip()[:120]}")
    assert not found
