# SPDX-License-Identifier: Apache-2.0
"""Decode rates as a user asks for them: ours, libjpeg-turbo's, and the loaders that a Python has."""

import json
import sys

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
