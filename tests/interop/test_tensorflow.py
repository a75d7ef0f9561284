# SPDX-License-Identifier: Apache-2.0
"""TFRecord both ways with TensorFlow, the library whose format it is."""

import functools
import hashlib

import pytest
import sets
from cli import headrace, headrace_json

COMPRESSIONS = ["", "GZIP", "ZLIB"]


@pytest.fixture
def tensorflow(library):
    return functools.partial(library, "tensorflow")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_tensorflow_reads_what_convert_writes(folder, tmp_path, compression, tensorflow):
    options = ["--compression", compression.lower()] if compression else []
    done = headrace("convert", folder, "--format", "tfrecord", "--out", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "out").rglob("*.tfrecord")
    read = tensorflow("read", file, compression)
    assert [(r["label"], r["sha256"]) for r in read] == [
        (label, hashlib.sha256(payload).hexdigest()) for label, payload in sets.samples(folder)]
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    assert [r["name"] for r in read] == names


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_we_read_what_tensorflow_writes(folder, tmp_path, compression, tensorflow):
    assert tensorflow("write", folder, tmp_path / "theirs.tfrecord", compression) == [{"records": 100}]
    ours = headrace_json("read", folder, "--batch", 16)["epochs"][0]
    theirs = headrace_json("read", tmp_path / "theirs.tfrecord", "--batch", 16)["epochs"][0]
    assert theirs["order_digest"] == ours["order_digest"]


def test_both_write_the_same_bytes(folder, tmp_path, tensorflow):
    headrace("convert", folder, "--format", "tfrecord", "--out", tmp_path / "out")
    (ours,) = (tmp_path / "out").rglob("*.tfrecord")
    tensorflow("write", folder, tmp_path / "theirs.tfrecord")
    assert ours.read_bytes() == (tmp_path / "theirs.tfrecord").read_bytes()
