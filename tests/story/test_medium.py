# SPDX-License-Identifier: Apache-2.0
"""A job as if on another medium: what the medium gives is what the table shows."""

import random

import pytest
from cli import headrace_json

BASELINE = 15.72864e6  # bytes a second, of data/media.yaml
START = 6926923.2e6


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """20 MB in 40 files."""
    folder = tmp_path_factory.mktemp("large")
    for number in range(40):
        path = folder / f"class-{number % 4}" / f"{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(random.Random(number).randbytes(500_000))
    return folder


def test_a_bursting_medium_runs_dry_in_its_samples_per_second(large):
    """A bucket of 30 MB, scaled down with the job: the first epoch bursts, the last is the baseline."""
    result = headrace_json("read", large, "--medium", "efs-bursting", "--scale", START / 30e6, "--epochs", 4,
                           "--batch", 8, "--no-decode", "--budget", "8M")
    rates = [epoch["samples_per_second"] for epoch in result["epochs"]]
    assert rates[0] > 2 * rates[3], rates
    assert rates[3] * 500_000 < 1.3 * BASELINE, rates
    in_all = sum(epoch["seconds"] for epoch in result["epochs"])
    assert in_all > 0.9 * (4 * 20e6 - 8e6 - 30e6) / BASELINE  # less what it read ahead, less the bucket


def test_what_fsx_has_not_loaded_comes_from_s3_once(large):
    """Each file's first read waits for 30 ms and its 500 KB at 85 MB/s; then FSx's own time."""
    result = headrace_json("read", large, "--medium", "fsx-scratch2-unloaded", "--epochs", 3, "--batch", 8,
                           "--no-decode", "--requests", 1)
    first, _, last = (epoch["seconds"] for epoch in result["epochs"])
    assert first > 40 * 0.030
    assert last < first
