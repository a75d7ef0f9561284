# SPDX-License-Identifier: Apache-2.0
"""Names come from other people's data: on a terminal they are shown, never obeyed."""

import pathlib
import shutil

import pytest
import sets
from cli import headrace

CLASS = "a\x1b]0;owned\x07\x1b[2J\u009b1m"  # one with a line end cannot be packed
EVIL = f"{CLASS}\r\nfake: clean"
FIRST_ALLOWED, LINE_END = " ", "\n"


def assert_tame(*texts):
    for text in texts:
        odd = {letter for letter in text if (letter < FIRST_ALLOWED and letter not in "\n\t")
               or "\x7f" <= letter <= "\x9f"}
        assert not odd, f"{odd} in {text!r}"
        assert not any(line.startswith("fake:") for line in text.splitlines())


@pytest.fixture
def evil(tmp_path):
    """A labelled folder with a class and files whose names would drive a terminal; one is empty, two
    are the same picture."""
    root = tmp_path / "set"
    picture = sets.picture(1)
    for name, content in {f"{CLASS}/{EVIL}1.jpg": picture, f"{CLASS}/{EVIL}2.jpg": picture,
                          f"{CLASS}/{EVIL}3.jpg": b"", "b/1.jpg": sets.picture(2)}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def test_what_reports_print_of_names_is_escaped(evil, tmp_path):
    listed = tmp_path / "bad.jsonl"
    commands = [
        ["verify", evil],
        ["verify", evil, "--decode"],
        ["inspect", evil],
        ["inspect", evil, "--records"],
        ["read", evil, "--on-bad", "skip", "--quarantine", listed],
        ["read", evil],
        ["inspect", "--replay", listed],
        ["inspect", pathlib.Path(evil) / CLASS / f"{EVIL}1.jpg"],
        ["pack", evil, "--out", tmp_path / f"{EVIL}packed", "--on-bad", "skip"],
        ["convert", evil, "--format", "tar", "--out", tmp_path / "tar", "--on-bad", "skip"],
        ["convert", evil, "--format", "folder", "--out", tmp_path / EVIL],
        ["verify", tmp_path / "tar"],
        ["verify", tmp_path / "nothing" / EVIL],
    ]
    seen = 0
    for command in commands:
        done = headrace(*command)
        assert_tame(done.stdout, done.stderr)
        seen += "owned" in done.stdout + done.stderr
    assert seen >= 8, "the names were not in the outputs: nothing was tested"


def test_names_in_damaged_containers_are_escaped(evil, tmp_path):
    packed = tmp_path / "packed" / f"x{EVIL}.rec"
    done = headrace("pack", evil, "--out", tmp_path / "packed", "--on-bad", "skip")
    assert done.returncode == 0, done.stderr
    shutil.move(tmp_path / "packed/packed.rec", packed)
    content = bytearray(packed.read_bytes())
    content[:4] = b"\x1b[2J"
    packed.write_bytes(content)
    for command in (["verify", packed], ["inspect", packed], ["inspect", packed, "--records"]):
        done = headrace(*command)
        assert_tame(done.stdout, done.stderr)
        assert "owned" in done.stdout + done.stderr
