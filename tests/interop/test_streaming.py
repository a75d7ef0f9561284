# SPDX-License-Identifier: Apache-2.0
"""MDS both ways with mosaicml-streaming 0.13.0, whose format it is."""

import hashlib
import io
import json
import subprocess

import pytest
import sets
from cli import headrace, headrace_json
from PIL import Image
from tree import ROOT

PYTHON = ROOT / ".cache/interop/streaming/bin/python"


def streaming(*arguments):
    done = subprocess.run([PYTHON, ROOT / "tests/interop/streaming_tool.py", *map(str, arguments)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("interop") / "set")


def digest(source):
    return headrace_json("read", source, "--batch", 16)["epochs"][0]["order_digest"]


def decoded(payload):
    pixels = Image.open(io.BytesIO(payload)).convert("RGB")
    return list(pixels.size), hashlib.sha256(pixels.tobytes()).hexdigest()


@pytest.mark.parametrize("compression", [(), ("--compression", "zstd")])
def test_streaming_reads_what_convert_writes(folder, tmp_path, compression):
    done = headrace("convert", folder, "--format", "mds", "--shards", 3, *compression,
                    "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert digest(tmp_path / "out") == digest(folder)
    (index,) = (tmp_path / "out").rglob("index.json")
    found = [(one["label"], one["size"], one["rgb"]) for one in streaming("read", index.parent)]
    assert found == [(label, *decoded(payload)) for label, payload in sets.samples(folder)]


@pytest.mark.parametrize("compression", ["-", "zstd:3", "gz", "bz2", "br", "snappy"])
def test_we_read_what_streaming_writes(folder, tmp_path, compression):
    assert streaming("write", folder, tmp_path / "theirs", compression) == [{"samples": 100}]
    assert len(list((tmp_path / "theirs").glob("shard.*"))) > 2
    assert digest(tmp_path / "theirs") == digest(folder)
