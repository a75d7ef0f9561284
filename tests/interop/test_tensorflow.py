# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow, the library whose format TFRecord is, writes, is read the same."""

import json
import subprocess

import pytest
import sets
from cli import headrace_json
from tree import ROOT

PYTHON = ROOT / ".cache/interop/tensorflow/bin/python"
COMPRESSIONS = ["", "GZIP", "ZLIB"]


def tensorflow(*arguments):
    done = subprocess.run([PYTHON, ROOT / "tests/interop/tensorflow_tool.py", *map(str, arguments)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("interop") / "set")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_we_read_what_tensorflow_writes(folder, tmp_path, compression):
    assert tensorflow("write", folder, tmp_path / "theirs.tfrecord", compression) == [{"records": 100}]
    ours = headrace_json("read", folder, "--batch", 16)["epochs"][0]
    theirs = headrace_json("read", tmp_path / "theirs.tfrecord", "--batch", 16)["epochs"][0]
    assert theirs["order_digest"] == ours["order_digest"]
