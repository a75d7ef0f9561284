# SPDX-License-Identifier: Apache-2.0
"""The committed stub of the native module is the one that nanobind makes of it."""

import pathlib
import subprocess
import sys

import headrace
from tree import ROOT

STUB = ROOT / "python/headrace/_headrace.pyi"


def test_the_stub_is_current(tmp_path):
    made = tmp_path / "made.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "headrace._headrace", "-o", made], check=True
    )
    assert made.read_text() == STUB.read_text(), f"python -m nanobind.stubgen -m headrace._headrace -o {STUB.name}"


def test_the_package_says_that_it_is_typed():
    assert (pathlib.Path(headrace.__file__).parent / "py.typed").exists()


def test_every_public_name_is_there_and_documented():
    for name in headrace.__all__:
        assert getattr(headrace, name).__doc__, name
