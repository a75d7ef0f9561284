# SPDX-License-Identifier: Apache-2.0
"""convert: the same samples in another format; cut short, shared, split, to and from S3."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
import sets
from cli import HEADRACE, headrace, headrace_json

# Formats that `convert` writes and whose sets keep the order. The list is checked against --help.
FORMATS = ["recordio", "protobuf", "tfrecord", "tar", "mds", "manifest", "folder"]


def digests(uri, **how):
    epoch = headrace_json("read", uri, "--no-decode", "--seed", 3, **how)["epochs"][0]
    return epoch["order_digest"], epoch["set_digest"]


def tree(root: pathlib.Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_every_format_that_can_be_written_is_in_this_story():
    refused = headrace("convert", "/nowhere", "--format", "no-such-format", "--out", "/nowhere/x")
    assert refused.returncode != 0
    listed = headrace("convert", "--help").stdout
    line = next(line for line in listed.splitlines() if "What to write:" in line)
    written = line.split("What to write:")[1].strip().split(", ")
    assert sorted(written) == sorted(FORMATS)


# Promise C5: Every set that is written in a format that keeps the order has the order digest of its
# source.
@pytest.mark.parametrize("target", FORMATS)
def test_every_format_and_back_has_the_same_digests_and_is_clean(labelled, tmp_path, target):
    expected = digests(labelled)
    report = headrace_json("convert", labelled, "--format", target, "--out", tmp_path / "there")
    assert report["end"] == "complete" and report["samples"] == 100 and report["skipped"] == 0
    assert digests(tmp_path / "there") == expected
    verified = headrace_json("verify", tmp_path / "there")
    assert verified["end"] == "clean"
    assert verified["set_digest"] == expected[1]
    headrace_json("convert", tmp_path / "there", "--format", "folder", "--out", tmp_path / "back")
    assert digests(tmp_path / "back") == expected
    assert not list(tmp_path.rglob(".headrace*")), "what was needed on the way is gone"


# Promise C1: What is written depends on the source and on the options only: jobs, parts and restarts
# change no byte.
def test_jobs_change_no_byte(labelled, tmp_path):
    trees = []
    for jobs in (1, 3, 8):
        out = tmp_path / str(jobs) / "set"
        headrace_json("convert", labelled, "--format", "recordio", "--shard-size", "20k", "--out", out,
                      "--jobs", jobs)
        trees.append(tree(out))
    assert len(trees[0]) > 20
    assert trees[0] == trees[1] == trees[2]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """2,000 pictures: enough to be killed on the way."""
    return sets.folder(tmp_path_factory.mktemp("many") / "set", classes=8, per_class=250, width=16,
                       height=16)


# Promise C3: A conversion that was cut short at any moment goes on with the same command, and what was
# finished is not written again.
@pytest.mark.parametrize("target", ["recordio", "folder"])
def test_a_kill_at_any_moment_loses_nothing_and_repeats_little(many, tmp_path, target):
    options = ["--shards", "40"] if target == "recordio" else []
    whole = tmp_path / "whole" / "set"
    headrace_json("convert", many, "--format", target, "--out", whole, *options)
    out = tmp_path / "killed" / "set"
    killed = 0
    for delay in [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8]:
        process = subprocess.Popen(
            [HEADRACE, "convert", many, "--format", target, "--out", out, "--jobs", "2", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not (out / ".headrace").exists():
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        if process.returncode == 0:
            break
    assert killed > 0, "it was never cut short: the test needs a larger set"
    receipts = len(list((out / ".headrace").rglob("shard-*.json")))
    # Without receipts it was killed when all was done.
    if process.returncode != 0 and (out / ".headrace").exists():
        report = headrace_json("convert", many, "--format", target, "--out", out, *options)
        found = report["shards_found"]
        assert report["end"] == "complete" and report["samples"] == 2000
        if target == "recordio":
            assert found == receipts, "what was finished is not made again"
    assert tree(out) == tree(whole)
    assert digests(out) == digests(many)


def test_ctrl_c_ends_it_within_a_second_and_it_goes_on(many, tmp_path):
    out = tmp_path / "set"
    command = [HEADRACE, "convert", many, "--format", "recordio", "--shards", "50", "--out", out]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (out / ".headrace").exists():
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode in (130, 0)
    assert headrace_json(*command[1:])["samples"] == 2000


@pytest.mark.parametrize("command", ["convert", "pack"])
def test_to_and_from_s3_with_parts_on_several_machines(command, labelled, bucket, tmp_path):
    source = bucket.upload(labelled, "raw")
    out = bucket.uri(f"by-{command}/converted")
    common = [command, source, "--format", "recordio", "--out", out, "--shards", "6"]
    early = headrace(*common, "--finish", env=bucket.env)
    assert early.returncode == 1 and "not written yet" in early.stderr
    for part in ("2/3", "1/3"):
        assert headrace_json(*common, "--part", part, env=bucket.env)["end"] == "part"
    unfinished = headrace(*common, "--finish", env=bucket.env)
    assert unfinished.returncode == 1 and "2 of 6 shards" in unfinished.stderr
    headrace_json(*common, "--part", "3/3", env=bucket.env)
    report = headrace_json(*common, "--finish", env=bucket.env)
    assert report["end"] == "complete" and report["samples"] == 100 and report["shards_found"] == 6
    assert digests(out, env=bucket.env) == digests(labelled)
    # The same bytes as in one piece, on this machine.
    headrace_json("convert", labelled, "--format", "recordio", "--out", tmp_path / "converted", "--shards", "6")
    again = headrace_json("convert", out, "--format", "recordio", "--out", tmp_path / "copy", env=bucket.env)
    assert again["samples"] == 100
    assert digests(tmp_path / "copy") == digests(labelled)
    listed = bucket.client.list_objects_v2(Bucket=bucket.name, Prefix=f"{bucket.prefix}/by-{command}/converted/")
    there = {entry["Key"].rsplit("/", 1)[1]: entry["Size"] for entry in listed["Contents"]}
    assert there == {name: len(body) for name, body in tree(tmp_path / "converted").items()}


# Promise C4: `--split` puts exactly the asked share of the samples aside, chosen by the seed alone, and
# each sample into one of the two sets.
def test_a_split_is_fixed_by_its_seed_and_stratified_on_request(labelled, tmp_path):
    common = ["convert", labelled, "--format", "recordio", "--split", "0.2"]
    first = headrace_json(*common, "--seed", 5, "--stratify", "--out", tmp_path / "a")
    assert [s["samples"] for s in first["sets"]] == [80, 20]
    headrace_json(*common, "--seed", 5, "--stratify", "--out", tmp_path / "b", "--jobs", 1)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    validation = headrace_json("verify", tmp_path / "a" / "validation")
    assert [c["samples"] for c in validation["classes"]] == [5, 5, 5, 5]
    both = [int(headrace_json("verify", tmp_path / "a" / side)["set_digest"], 16)
            for side in ("train", "validation")]
    assert f"{sum(both) & sets.MASK:032x}" == digests(labelled)[1]


def test_what_is_left_out_is_in_the_report(labelled, tmp_path):
    packed = tmp_path / "train.rec"
    sets.recordio(packed, sets.samples(labelled))
    data = bytearray(packed.read_bytes())
    offset = int(packed.with_suffix(".idx").read_text().splitlines()[7].split()[1])
    data[offset : offset + 4] = b"oops"
    packed.write_bytes(data)
    failed = headrace("convert", packed, "--format", "recordio", "--out", tmp_path / "out")
    assert failed.returncode == 1 and "train.rec" in failed.stderr
    report = headrace_json("convert", packed, "--format", "recordio", "--out", tmp_path / "out",
                           "--on-bad", "skip")
    assert report["skipped"] == 1 and report["samples"] == 99
    assert "train.rec#7" in report["skipped_samples"][0]["name"]
    text = headrace("convert", packed, "--format", "recordio", "--out", tmp_path / "text", "--on-bad", "skip")
    assert "1 samples were left out" in text.stdout and "train.rec#7" in text.stdout


# Promise C2: Pictures pass through untouched, unless `--resize` or `--quality` is given.
def test_pictures_are_made_smaller_on_request_only(labelled, tmp_path):
    headrace_json("convert", labelled, "--format", "folder", "--out", tmp_path / "small", "--resize", 24)
    names = sorted(p.relative_to(labelled) for p in labelled.rglob("*.jpg"))
    assert sorted(p.relative_to(tmp_path / "small") for p in (tmp_path / "small").rglob("*.jpg")) == names
    picture = json.loads(headrace("inspect", tmp_path / "small" / names[0], "--decode", "--json").stdout)
    assert picture["verdict"] == "decodes" and min(picture["width"], picture["height"]) == 24


@pytest.mark.parametrize("wrong, says", [
    (["--split", "0.5", "--out", "x.rec"], "folder"),
    (["--part", "0/4", "--out", "x"], "part"),
    (["--part", "5/4", "--out", "x"], "part"),
    (["--part", "2", "--out", "x"], "part"),
    (["--seed", "5", "--out", "x"], "--split"),
    (["--compression", "lzma", "--out", "x"], "compression"),
    (["--quality", "0", "--out", "x"], "quality"),
])
def test_what_cannot_be_is_refused_and_nothing_is_written(labelled, tmp_path, wrong, says):
    done = headrace("convert", labelled, "--format", "recordio", *wrong, cwd=tmp_path)
    assert done.returncode != 0 and says in done.stderr.lower()
    assert os.listdir(tmp_path) == []


def test_a_set_in_a_folder_of_its_own_is_replaced_whole(labelled, tmp_path):
    convert = ["convert", labelled, "--format", "mds", "--out", tmp_path / "set"]
    headrace_json(*convert, "--shards", 3)
    refused = headrace(*convert, "--shards", 2)
    assert refused.returncode == 1 and "--force" in refused.stderr
    headrace_json(*convert, "--shards", 2, "--force")
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == [
        "classes.txt", "index.json", "shard.00000.mds", "shard.00001.mds"]
    assert digests(tmp_path / "set") == digests(labelled)
