# SPDX-License-Identifier: Apache-2.0
"""MDS both ways with mosaicml-streaming 0.13.0, whose format it is."""

import functools
import hashlib
import io

import pytest
import sets
from cli import headrace, headrace_json
from PIL import Image



@pytest.fixture
def streaming(library):
    return functools.partial(library, "streaming")


def digest(source):
    return headrace_json("read", source, "--batch", 16)["epochs"][0]["order_digest"]


def decoded(payload):
    pixels = Image.open(io.BytesIO(payload)).convert("RGB")
    return list(pixels.size), hashlib.sha256(pixels.tobytes()).hexdigest()


@pytest.mark.parametrize("compression", [(), ("--compression", "zstd")])
def test_streaming_reads_what_convert_writes(folder, tmp_path, compression, streaming):
    done = headrace("convert", folder, "--format", "mds", "--shards", 3, *compression,
                    "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert digest(tmp_path / "out") == digest(folder)
    (index,) = (tmp_path / "out").rglob("index.json")
    found = [(one["label"], one["size"], one["rgb"]) for one in streaming("read", index.parent)]
    assert found == [(label, *decoded(payload)) for label, payload in sets.samples(folder)]


@pytest.mark.parametrize("compression", ["-", "zstd:3", "gz", "bz2", "br", "snappy"])
def test_we_read_what_streaming_writes(folder, tmp_path, compression, streaming):
    assert streaming("write", folder, tmp_path / "theirs", compression) == [{"samples": 100}]
    assert len(list((tmp_path / "theirs").glob("shard.*"))) > 2
    assert digest(tmp_path / "theirs") == digest(folder)
