# SPDX-License-Identifier: Apache-2.0
"""RecordIO both ways with MXNet 1.9.1, the library whose format it is."""

import functools
import hashlib
import random

import pytest
import sets
from cli import headrace, headrace_json



@pytest.fixture
def mxnet(library):
    return functools.partial(library, "mxnet")


def expected(samples):
    return [{"label": label, "id": number, "sha256": hashlib.sha256(payload).hexdigest()}
            for number, (label, payload) in enumerate(samples)]


def test_mxnet_reads_what_pack_writes(folder, tmp_path, mxnet):
    done = headrace("pack", folder, "--format", "recordio", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    (rec,) = (tmp_path / "out").rglob("*.rec")
    assert mxnet("read", rec) == expected(sets.samples(folder))
    assert mxnet("read-indexed", rec) == expected(sets.samples(folder))
    assert [x["label"] for x in mxnet("iterate", rec)] == [label for label, _ in sets.samples(folder)]


def test_we_read_what_mxnet_writes(folder, tmp_path, mxnet):
    assert mxnet("write", folder, tmp_path / "theirs.rec") == [{"records": 100}]
    ours = headrace_json("read", folder, "--batch", 16)["epochs"][0]
    theirs = headrace_json("read", tmp_path / "theirs.rec", "--batch", 16)["epochs"][0]
    assert theirs["order_digest"] == ours["order_digest"]
    verified = headrace_json("verify", tmp_path / "theirs.rec")
    assert verified["schema"] == 1


def test_payloads_that_hold_the_magic_go_both_ways(tmp_path, mxnet):
    """MXNet splits a record where its magic stands on a multiple of four."""
    rng = random.Random(5)
    magic = sets.MARK
    root = tmp_path / "set"
    for number in range(40):
        body = b"".join(rng.choice([magic, magic + magic, rng.randbytes(rng.randrange(9))])
                        for _ in range(rng.randrange(1, 12)))
        (root / "a").mkdir(parents=True, exist_ok=True)
        (root / "a" / f"{number:02}.jpg").write_bytes(sets.picture(number) + body)
    samples = sets.samples(root)
    sets.recordio(tmp_path / "by-definition.rec", samples)
    assert mxnet("read", tmp_path / "by-definition.rec") == expected(samples)
    headrace("pack", root, "--format", "recordio", "--out", tmp_path / "out")
    (rec,) = (tmp_path / "out").rglob("*.rec")
    assert mxnet("read", rec) == expected(samples)
    mxnet("write", root, tmp_path / "theirs.rec")
    assert rec.read_bytes() == (tmp_path / "theirs.rec").read_bytes()
