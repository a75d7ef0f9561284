# SPDX-License-Identifier: Apache-2.0
"""Arguments that make no sense, and outputs that cannot be written, as users meet them."""

import subprocess

import pytest
import sets
from cli import HEADRACE, headrace, headrace_json


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("set") / "pictures", 2, 6)


@pytest.mark.parametrize("arguments", [
    ("--epochs", "-1"), ("--batch", "-3"), ("--seed", "18446744073709551616"), ("--budget", "-1")])
def test_a_number_that_would_wrap_is_a_usage_error(pictures, arguments):
    refused = headrace("read", pictures, "--no-decode", *arguments)
    assert refused.returncode == 2
    assert arguments[0] in refused.stderr


@pytest.mark.parametrize("arguments, says", [
    (("--threads", "100000"), "100000 decode threads"),
    (("--accelerator", "emulated:1e-300"), "emulated:1e-300")])
def test_what_no_machine_can_do_is_refused(pictures, arguments, says):
    refused = headrace("read", pictures, "--no-decode", *arguments)
    assert refused.returncode == 1
    assert says in refused.stderr


def test_a_result_that_cannot_be_written_is_a_failure(pictures):
    for command in ("inspect", "verify"):
        with open("/dev/full", "w", encoding="ascii") as full:
            ended = subprocess.run([HEADRACE, command, pictures], stdout=full, text=True,
                                   stderr=subprocess.PIPE, timeout=60, check=False)
        assert ended.returncode == 1
        assert "standard output" in ended.stderr


def test_a_reader_that_goes_away_is_met_with_silence(pictures):
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    ended = subprocess.run([HEADRACE, "inspect", pictures, "--records"], stdout=reader.stdin,
                           text=True, stderr=subprocess.PIPE, timeout=60, check=False)
    assert ended.returncode == 141
    assert ended.stderr == ""


def test_a_folder_is_no_picture(pictures):
    refused = headrace("inspect", pictures, "--decode")
    assert refused.returncode == 1
    assert "a folder, not a picture" in refused.stderr


def test_missing_shards_are_named_and_one_shard_alone_is_fine(pictures, tmp_path):
    out = tmp_path / "set"
    headrace_json("pack", pictures, "--out", out, "--shards", "3")
    (out / "set-00001-of-00003.rec").unlink()
    assert "number 1 is not: the set is not whole" in headrace("verify", out).stdout
    assert "not whole" not in headrace("verify", out / "set-00000-of-00003.rec").stdout


@pytest.mark.parametrize("arguments", [("--lr", "nan"), ("--momentum", "-1"), ("--epochs", "-1")])
def test_training_refuses_rates_and_counts_that_are_none(pictures, arguments):
    if not (HEADRACE.parent / "headrace-train").exists():
        pytest.skip("headrace-train was not built")
    refused = headrace("train", "--data", pictures, *arguments)
    assert refused.returncode == 2
    assert arguments[0] in refused.stderr
