# SPDX-License-Identifier: Apache-2.0
"""nfs:// against a real server in user space: the same samples as from the folder itself."""

import shutil
import subprocess

import pytest
from cli import headrace, headrace_json
from tree import ROOT

CANNOT_HERE = 77  # nfs-server's: not root, no ganesha, a file system without handles


@pytest.fixture(scope="module")
def export(tmp_path_factory, labelled, packed):
    """The URI of an export that holds both sets."""
    folder = tmp_path_factory.mktemp("nfs")
    server = ROOT / "scripts/nfs-server"
    started = subprocess.run([server, "start", folder], capture_output=True, text=True)
    if started.returncode == CANNOT_HERE:
        pytest.skip(started.stderr.strip())
    assert started.returncode == 0, started.stderr
    names = dict(line.removeprefix("export ").split("=", 1) for line in started.stdout.splitlines())
    shutil.copytree(labelled, folder / "data/labelled")
    shutil.copytree(packed, folder / "data/packed")
    try:
        yield names["HEADRACE_TEST_NFS"].strip("'")
    finally:
        subprocess.run([server, "stop", folder], check=True)


def read(uri, *options):
    return headrace_json("read", uri, "--batch", 16, "--seed", 7, "--epochs", 2, *options)


def digests(result):
    return [(epoch["order_digest"], epoch["set_digest"]) for epoch in result["epochs"]]


# Promise M1: Every mode delivers the same samples in the same order.
def test_it_delivers_what_the_folder_does(export, labelled, packed):
    assert digests(read(f"{export}/labelled")) == digests(read(labelled))
    assert digests(read(f"{export}/packed/train.rec")) == digests(read(packed / "train.rec"))


def test_fetch_and_keep_read_it_too(export, labelled, tmp_path):
    kept = read(f"{export}/labelled", "--mode", "keep", "--keep-dir", tmp_path / "cache")
    assert digests(kept) == digests(read(labelled))
    done = headrace("fetch", f"{export}/labelled", tmp_path / "copy")
    assert done.returncode == 0, done.stderr
    assert digests(read(tmp_path / "copy")) == digests(read(labelled))


def test_compare_has_a_row_for_it(export):
    result = headrace_json("compare", f"{export}/labelled", "--modes", "direct", "--epochs", 1, "--no-decode")
    assert [row["status"] for row in result["rows"]] == ["ok"]


def test_a_wrong_export_is_named(export):
    done = headrace("read", f"{export}/nothing")
    assert done.returncode == 1
    assert "/nothing" in done.stderr and "not_found" in done.stderr
