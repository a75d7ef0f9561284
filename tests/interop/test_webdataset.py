# SPDX-License-Identifier: Apache-2.0
"""Tars both ways with webdataset 1.0.2, whose rules make samples of members."""

import hashlib
import json
import subprocess

import pytest
import sets
from cli import headrace, headrace_json
from tree import ROOT

PYTHON = ROOT / ".cache/interop/webdataset/bin/python"


def webdataset(*arguments):
    done = subprocess.run([PYTHON, ROOT / "tests/interop/webdataset_tool.py", *map(str, arguments)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("interop") / "set")


def digest(source):
    return headrace_json("read", source, "--batch", 16)["epochs"][0]["order_digest"]


def test_webdataset_reads_what_convert_writes(folder, tmp_path):
    done = headrace("convert", folder, "--format", "tar", "--shards", 3, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    tars = sorted((tmp_path / "out").rglob("*.tar"))
    assert len(tars) == 3
    found = [(one["label"], one["fields"]["jpg"]) for one in webdataset("read", *tars)]
    assert found == [(label, hashlib.sha256(payload).hexdigest())
                     for label, payload in sets.samples(folder)]
    assert digest(tmp_path / "out") == digest(folder)


def test_we_read_what_webdataset_writes(folder, tmp_path):
    (tmp_path / "theirs").mkdir()
    assert webdataset("write", folder, tmp_path / "theirs/x-%06d.tar") == [{"samples": 100}]
    assert len(list((tmp_path / "theirs").glob("*.tar"))) == 4
    assert digest(tmp_path / "theirs") == digest(folder)
