# SPDX-License-Identifier: Apache-2.0
"""What the tests with the formats' own libraries share: a set, and how a library's tool is run in
the environment that scripts/test-interop made for it."""

import json
import subprocess

import pytest
import sets
from tree import ROOT


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("interop") / "set")


@pytest.fixture(scope="session")
def library():
    """library("mxnet", "read", …): what tests/interop/mxnet_tool.py prints, parsed."""
    def run(name, *arguments):
        done = subprocess.run([ROOT / f".cache/interop/{name}/bin/python", ROOT / f"tests/interop/{name}_tool.py",
                               *map(str, arguments)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return run
