# SPDX-License-Identifier: Apache-2.0
"""Arguments that make no sense, and outputs that cannot be written, as users meet them."""

import os
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


@pytest.mark.parametrize("name, remedy", [
    ("x.lst", "--list FILE"), ("x.csv", "--list FILE"), ("x.idx", "name the .rec"),
    ("x.jpg", "headrace inspect --decode")])
def test_a_file_that_is_no_set_says_what_it_belongs_to(tmp_path, name, remedy):
    (tmp_path / name).write_bytes(sets.picture(1) if name == "x.jpg" else b"0\t0\n")
    refused = headrace("read", tmp_path / name)
    assert refused.returncode == 1
    assert remedy in refused.stderr, refused.stderr


def test_a_bad_picture_is_named_with_both_ways_to_go_on(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/cut.jpg").write_bytes(sets.picture(1)[:400])
    refused = headrace("read", tmp_path)
    assert "a/cut.jpg" in refused.stderr and "get the whole file again; --on-bad skip" in refused.stderr


def test_a_full_scratch_folder_is_named_with_the_variable_that_moves_it(pictures, tmp_path):
    refused = headrace("read", pictures, env=os.environ | {"HEADRACE_TMPDIR": str(tmp_path / "gone")})
    assert refused.returncode == 1
    assert str(tmp_path / "gone") in refused.stderr and "set HEADRACE_TMPDIR" in refused.stderr


@pytest.mark.parametrize("into", ["pictures", "pictures/copy", "link"])
def test_a_set_is_not_copied_into_itself(tmp_path, into):
    source = sets.folder(tmp_path / "pictures", 2, 3)
    (tmp_path / "link").symlink_to(source)
    before = {path: path.stat().st_ino for path in source.rglob("*")}
    for command in (("fetch", source, tmp_path / into),
                    ("read", source, "--mode", "file", "--local", tmp_path / into, "--no-decode")):
        refused = headrace(*command)
        assert refused.returncode == 1
        assert "the copy would lie in its own source" in refused.stderr, refused.stderr
    assert {path: path.stat().st_ino for path in source.rglob("*")} == before
    assert headrace("fetch", source, tmp_path / "pictures-2").returncode == 0


@pytest.mark.parametrize("arguments, says", [
    (("raed", "x"), 'no command is called "raed" (is "read" meant?)'),
    (("predict", "--help"), 'no command is called "predict"'),
    (("keep", "lst"), 'no command is called "lst" (is "list" meant?)'),
    (("read", "x", "--epoch", "1"), 'no option is called "--epoch" (is "--epochs" meant?)'),
    (("read", "x", "--eposh=1"), 'no option is called "--eposh" (is "--epochs" meant?)'),
    (("read", "x", "--seed", "x"), '--seed: "x" is no whole number')])
def test_what_is_misspelt_is_named_with_what_may_be_meant(arguments, says):
    refused = headrace(*arguments)
    assert refused.returncode == 2
    assert refused.stderr.startswith("headrace: invalid: " + says), refused.stderr
    assert refused.stdout == ""


def test_the_version_is_an_option_too():
    assert headrace("--version").stdout.strip() == headrace("version").stdout.splitlines()[0]


@pytest.mark.parametrize("arguments, says", [
    (("--mean", "0.5,0.5"), "--mean has 2 numbers for 3 channels"),
    (("--image-shape", "1,28,28", "--std", "1,1,1"), "--std has 3 numbers for 1 channels")])
def test_training_refuses_means_that_do_not_fit_the_channels(pictures, arguments, says):
    if not (HEADRACE.parent / "headrace-train").exists():
        pytest.skip("headrace-train was not built")
    refused = headrace("train", "--data", pictures, *arguments)
    assert refused.returncode == 2
    assert says in refused.stderr


def test_a_store_that_nothing_is_kept_of_is_named(pictures, tmp_path):
    headrace_json("read", pictures, "--mode", "keep", "--keep-dir", tmp_path / "cache", "--no-decode")
    for command in ("list", "purge"):
        refused = headrace("keep", command, "--keep-dir", tmp_path / "cache", "--store", "s3://other")
        assert refused.returncode == 1
        assert '"s3://other"' in refused.stderr and "keep list" in refused.stderr, refused.stderr
    assert headrace_json("keep", "stat", "--keep-dir", tmp_path / "cache")["objects"] > 0
    purged = headrace("keep", "purge", "--keep-dir", tmp_path / "cache", "--store", str(pictures))
    assert purged.returncode == 0 and not purged.stdout.startswith("removed 0"), purged.stdout


@pytest.mark.parametrize("option", ["--batch", "--world-size", "--requests", "--depth"])
def test_a_job_of_nothing_is_a_usage_error(pictures, option):
    refused = headrace("read", pictures, "--no-decode", option, "0")
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"headrace: invalid: {option}: 0 is below 1"), refused.stderr
