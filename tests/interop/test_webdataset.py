# SPDX-License-Identifier: Apache-2.0
"""Tars both ways with webdataset 1.0.2, whose rules make samples of members."""

import functools
import hashlib

import pytest
import sets
from cli import headrace, headrace_json



@pytest.fixture
def webdataset(library):
    return functools.partial(library, "webdataset")


def digest(source):
    return headrace_json("read", source, "--batch", 16)["epochs"][0]["order_digest"]


def test_webdataset_reads_what_convert_writes(folder, tmp_path, webdataset):
    done = headrace("convert", folder, "--format", "tar", "--shards", 3, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    tars = sorted((tmp_path / "out").rglob("*.tar"))
    assert len(tars) == 3
    found = [(one["label"], one["fields"]["jpg"]) for one in webdataset("read", *tars)]
    assert found == [(label, hashlib.sha256(payload).hexdigest())
                     for label, payload in sets.samples(folder)]
    assert digest(tmp_path / "out") == digest(folder)


def test_we_read_what_webdataset_writes(folder, tmp_path, webdataset):
    (tmp_path / "theirs").mkdir()
    assert webdataset("write", folder, tmp_path / "theirs/x-%06d.tar") == [{"samples": 100}]
    assert len(list((tmp_path / "theirs").glob("*.tar"))) == 4
    assert digest(tmp_path / "theirs") == digest(folder)
