# SPDX-License-Identifier: Apache-2.0
"""Decode rates as a user asks for them: ours, libjpeg-turbo's, and the loaders that a Python has."""

import importlib.util
import json
import pathlib
import sys

import numpy as np
import pytest
from cli import headrace

OURS = ["headrace-index", "headrace-first", "headrace-index-avx2", "headrace-first-avx2", "libjpeg-turbo"]


def bench(folder, *options):
    done = headrace("bench-decode", "--data", folder, "--seconds", "0.3", "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_way_is_a_row_with_its_work_per_picture(labelled):
    report = bench(labelled, "--without-peers")
    assert [row["who"] for row in report["rows"]] in (OURS, [who for who in OURS if "avx2" not in who])
    for row in report["rows"]:
        assert row["threads"] == 1 and row["images_per_second"] > 0
        assert row["instructions_per_image"] is None or row["instructions_per_image"] > 1000
    touched = {row["who"]: row["bytes_touched_per_image"] for row in report["rows"]}
    assert touched["headrace-first"] == touched["libjpeg-turbo"]  # the same pictures
    assert touched["headrace-index"] <= touched["headrace-first"]


def test_a_python_without_loaders_adds_nothing(labelled, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(0o755)
    assert [row["who"] for row in bench(labelled, "--peers-python", bare)["rows"]][-1] == "libjpeg-turbo"


def test_the_loaders_that_a_python_has_are_rows(labelled, tmp_path):
    loader = tmp_path / "python"
    row = {"who": "some-loader", "version": "1.2", "threads": 1, "images_per_second": 77.5,
           "first_batch_seconds": 0.5, "peak_mib": 100.0}
    loader.write_text(f"#!/bin/sh\necho '{json.dumps({'schema': 1, 'rows': [row], 'missing': {}})}'\n")
    loader.chmod(0o755)
    last = bench(labelled, "--peers-python", loader)["rows"][-1]
    assert last == {**row, "bytes_touched_per_image": None}


def test_a_python_that_is_not_there_is_a_usage_error(labelled):
    done = headrace("bench-decode", "--data", labelled, "--seconds", "0.2", "--peers-python", "/nowhere/python")
    assert done.returncode == 2 and "/nowhere/python" in done.stderr


def test_a_row_of_a_peer_stands_for_normalised_float_pictures():
    file = pathlib.Path(__file__).parents[2] / "bench" / "decode" / "peers.py"
    spec = importlib.util.spec_from_file_location("peers", file)
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    mean, std = (np.array(values, np.float32).reshape(1, 3, 1, 1) for values in (peers.MEAN, peers.STD))
    zero_to_one = np.random.default_rng(1).random((peers.BATCH, 3, peers.SIDE, peers.SIDE), np.float32)
    good = (zero_to_one - mean) / std
    peers.check(good)
    same = np.broadcast_to(good[:1], good.shape)
    others_channels = (zero_to_one - mean[:, ::-1]) / std[:, ::-1]
    flat = np.clip(good, -0.02, 0.02) + np.arange(peers.BATCH, dtype=np.float32).reshape(-1, 1, 1, 1) / 1e4
    for wrong in (zero_to_one, zero_to_one * 255, good.astype(np.float64), good.transpose(0, 2, 3, 1), good[:-1], same,
                  others_channels, flat):
        with pytest.raises(AssertionError):
            peers.check(wrong)
