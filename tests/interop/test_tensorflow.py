# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow, the library whose format TFRecord is, writes, is read the same."""

import functools

import pytest
from cli import headrace_json

COMPRESSIONS = ["", "GZIP", "ZLIB"]


@pytest.fixture
def tensorflow(library):
    return functools.partial(library, "tensorflow")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_we_read_what_tensorflow_writes(folder, tmp_path, compression, tensorflow):
    assert tensorflow("write", folder, tmp_path / "theirs.tfrecord", compression) == [{"records": 100}]
    ours = headrace_json("read", folder, "--batch", 16)["epochs"][0]
    theirs = headrace_json("read", tmp_path / "theirs.tfrecord", "--batch", 16)["epochs"][0]
    assert theirs["order_digest"] == ours["order_digest"]
