# SPDX-License-Identifier: Apache-2.0
"""Several sets in one job, as users meet them."""

import pathlib
import shutil

import pytest
import sets
from cli import headrace, headrace_json
from striped import SIDE, striped_folder

FAST = ["--batch", "8", "--no-decode"]
EPOCH = ("order_digest", "set_digest", "asked", "delivered")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> pathlib.Path:
    return sets.folder(tmp_path_factory.mktemp("set") / "whole", 4, 10)


@pytest.fixture(scope="module")
def parts(whole, tmp_path_factory) -> list[pathlib.Path]:
    """The first class as a folder, the second one packed, the last two as a folder."""
    root = tmp_path_factory.mktemp("parts")
    names = sorted((p.name for p in whole.iterdir()), key=str.encode)
    for part, own in (("a", names[:1]), ("b", names[1:2]), ("c", names[2:])):
        for name in own:
            shutil.copytree(whole / name, root / part / name)
    done = headrace("pack", root / "b", "--format", "recordio", "--out", root / "b-packed")
    assert done.returncode == 0, done.stderr
    return [root / "a", root / "b-packed", root / "c"]


def summary(result: dict) -> list[list]:
    return [[epoch[key] for key in EPOCH] for epoch in result["epochs"]]


def test_sets_of_several_formats_read_as_the_whole(whole, parts):
    one = headrace_json("read", whole, *FAST, "--epochs", "2")
    several = headrace_json("read", *parts, *FAST, "--epochs", "2")
    assert summary(several) == summary(one)
    assert several["sets"] == [10, 10, 20] and one["sets"] == [40]
    assert several["format"] == "joined"


def test_a_job_of_several_sets_goes_on_exactly(parts, tmp_path):
    mix = ["--shares", "0.5,0.2,0.3", "--epoch-samples", "100", *FAST]
    wanted = summary(headrace_json("read", *parts, *mix, "--epochs", "2"))
    assert [row[2] for row in wanted] == [100, 100]
    state = tmp_path / "job.state"
    headrace_json("read", *parts, *mix, "--epochs", "1", "--state", state)
    rest = headrace_json("read", *parts, *mix, "--epochs", "2", "--resume", state, "--threads", "1")
    assert summary(rest) == wanted
    for change in (["--shares", "0.5,0.3,0.2"], ["--repeat", "1,1,1"]):
        other = [*change, "--epoch-samples", "100", *FAST, "--epochs", "2"]
        done = headrace("read", *parts, *other, "--resume", state)
        assert done.returncode == 1
        assert "other proportions or weights" in done.stderr
    done = headrace("read", *reversed(parts), *mix, "--epochs", "2", "--resume", state)
    assert done.returncode == 1 and "another data set" in done.stderr


def test_ranks_together_deliver_the_mixture(parts):
    mix = ["--repeat", "2,0.5,1", "--no-decode", "--batch"]
    one = headrace_json("read", *parts, *mix, "8")["epochs"][0]
    assert one["asked"] == 45
    total = 0
    for rank in range(4):
        epoch = headrace_json("read", *parts, *mix, "2", "--world-size", "4", "--rank", rank)["epochs"][0]
        total += int(epoch["order_digest"], 16)
    assert f"{total & sets.MASK:032x}" == one["order_digest"]


def test_what_does_not_fit_is_said(parts):
    for arguments, why in (
            (["--repeat", "1,2"], "2 numbers for 3 sets"),
            (["--repeat", "1,2,3", "--shares", "1,2,3"], "excludes"),
            (["--class-weights", "cat"], "CLASS=2.5"),
            (["--mode", "pipe"], "one set"),
            (["--shares", "0,0,0"], "no sample has a weight")):
        done = headrace("read", *parts, *FAST, *arguments)
        assert done.returncode != 0 and why in done.stderr, (arguments, done.stderr)


@pytest.fixture(scope="module")
def striped(tmp_path_factory) -> list[pathlib.Path]:
    """Two sets for training that share two classes."""
    root = tmp_path_factory.mktemp("striped")
    return [striped_folder(root / "plain", 2, 12, seed=1), striped_folder(root / "more", 3, 10, seed=2)]


MIXED = ["--shares", "0.6,0.4", "--epoch-samples", "40", "--class-weights", "class-1=2", "--batch", "8",
         "--seed", "3", "--epochs", "2"]


def test_training_on_two_sets_sees_what_read_reads_whatever_the_mode(striped, tmp_path):
    learn = ["--model", "resnet20", "--image-shape", f"1,{SIDE},{SIDE}", "--augment", "none", "--lr", "0.01",
             "--torch-threads", "1", "--losses", "--num-classes", "3"]
    runs = [headrace_json("train", "--data", *striped, *MIXED, *learn, *mode) for mode in (
        [], ["--mode", "keep", "--keep-dir", tmp_path / "keep"], ["--mode", "file", "--local", tmp_path / "copy"])]
    losses = [[epoch["losses"] for epoch in run["epochs"]] for run in runs]
    assert [len(epoch) for epoch in losses[0]] == [5, 5]
    assert losses[1] == losses[0] and losses[2] == losses[0]
    read = headrace_json("read", *striped, *MIXED, "--no-decode")
    for name in ("order_digest", "set_digest"):
        assert [epoch[name] for epoch in runs[0]["epochs"]] == [epoch[name] for epoch in read["epochs"]]
    alone = headrace_json("train", "--data", striped[0], *MIXED[2:], *learn)
    assert alone["epochs"][0]["losses"] != losses[0][0]


def test_a_training_on_two_sets_goes_on_as_itself_only(striped, tmp_path):
    job = ["train", "--data", *striped, "--model", "resnet20", "--image-shape", f"1,{SIDE},{SIDE}", "--torch-threads",
           "1", "--checkpoint", tmp_path / "run"]
    headrace_json(*job, *MIXED[:-1], "1")
    other = headrace(*job, "--resume", "--shares", "0.5,0.5", *MIXED[2:])
    assert other.returncode == 1 and "other proportions or weights" in other.stderr
    assert headrace_json(*job, "--resume", *MIXED)["resumed"]


def test_comparing_joined_sets_has_the_digests_of_read(striped, tmp_path):
    mix = [*MIXED, "--size", "16"]
    done = headrace_json("compare", striped[0], "--with", striped[1], *mix, "--repeats", "1", "--modes",
                         "direct,file,stream,keep,pipe", "--keep-dir", tmp_path)
    read = headrace_json("read", *striped, *mix)
    rows = {row["mode"]: row for row in done["rows"]}
    assert rows.pop("pipe")["why"] == "a pipe carries one set, and this job has several"
    assert done["digests_agree"] and len(rows) == 4
    for row in rows.values():
        assert row["status"] == "ok", row
        assert row["order_digests"] == [epoch["order_digest"] for epoch in read["epochs"]]
        assert row["set_digest"] == read["epochs"][0]["set_digest"]
    assert done["tables"][0]["sets"][0]["with"] == [str(striped[1])]
    assert done["tables"][0]["sets"][0]["samples"] == 54
    usage = headrace("compare", *striped, "--with", striped[1])
    assert usage.returncode == 2 and "2 forms" in usage.stderr


def test_what_warm_kept_of_several_sets_is_all_that_read_needs(striped, tmp_path):
    keep = ["--keep-dir", tmp_path / "keep", "--format", "folder"]  # else one picture is looked at
    mix = ["--class-weights", "class-0=0,class-1=0.5"]
    warmed = headrace_json("keep", "warm", *striped, *keep, *mix)
    assert warmed["samples"] == 12 + 20
    read = headrace_json("read", *striped, "--mode", "keep", *keep, *mix, "--no-decode", "--epochs", "3")
    assert [epoch["bytes_origin"] for epoch in read["epochs"]] == [0, 0, 0]
    seen = sum(epoch["delivered"] for epoch in read["epochs"])
    assert seen == 3 * 54
    rest = headrace_json("read", *striped, "--mode", "keep", *keep, "--no-decode")
    assert rest["epochs"][0]["bytes_origin"] > 0, "class-0 was not fetched"
