# SPDX-License-Identifier: Apache-2.0
"""The node cache as users meet it: a second run without the origin, commands, kills and damage."""

import os
import pathlib
import subprocess
import sys

import pytest
import sets
from cli import headrace, headrace_json
from tree import ROOT

READ = ["--mode", "keep", "--batch", "16", "--threads", "2"]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> pathlib.Path:
    return sets.folder(tmp_path_factory.mktemp("set") / "pictures", 3, 20)


def test_later_epochs_and_runs_ask_the_origin_for_nothing(pictures, tmp_path):
    cache = ["--keep-dir", tmp_path / "cache"]
    direct = headrace_json("read", pictures, "--mode", "direct", "--batch", "16", "--epochs", "2")
    first = headrace_json("read", pictures, *READ, *cache, "--epochs", "2")
    again = headrace_json("read", pictures, *READ, *cache, "--epochs", "1")
    wanted = [e["order_digest"] for e in direct["epochs"]]
    assert [e["order_digest"] for e in first["epochs"]] == wanted
    assert [e["order_digest"] for e in again["epochs"]] == wanted[:1]
    size = sum(len(payload) for _, payload in sets.samples(pictures))
    assert first["epochs"][0]["bytes_origin"] >= size
    assert first["epochs"][1]["bytes_origin"] == 0
    assert first["epochs"][1]["requests"] == 0
    assert first["epochs"][1]["bytes_cache"] == size
    assert again["epochs"][0]["bytes_cache"] == size


def test_commands_tell_what_is_kept_and_take_it_away(pictures, tmp_path):
    cache = ["--keep-dir", tmp_path / "cache"]
    headrace_json("read", pictures, *READ, *cache)
    listed = headrace_json("keep", "list", *cache)
    assert listed["schema"] == 1
    assert [s["objects"] for s in listed["stores"]] == [60]
    keys = headrace_json("keep", "list", "--keys", *cache)["pieces"]
    assert sum(not piece["derived"] for piece in keys) == 60
    stat = headrace_json("keep", "stat", *cache)
    assert stat["objects"] == 60 and stat["live"] == 0
    assert headrace_json("keep", "verify", *cache)["damaged"] == []

    data = next((tmp_path / "cache" / "v1").glob("*.data"))
    with data.open("r+b") as file:
        file.seek(100)
        file.write(b"damage")
    done = headrace("keep", "verify", *cache)
    assert done.returncode == 1
    assert "does not match its hash" in done.stdout
    assert headrace_json("keep", "purge", *cache)["segments"] == 1
    assert headrace_json("keep", "stat", *cache)["pieces"] == 0


def test_a_directory_that_others_may_enter_is_refused(pictures, tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    done = headrace("read", pictures, *READ, "--keep-dir", tmp_path / "open")
    assert done.returncode == 1
    assert "chmod 700" in done.stderr


def test_kills_and_damage_change_no_digest(tmp_path):
    seconds = float(os.environ.get("HEADRACE_TORTURE_SECONDS", 15))
    done = subprocess.run([sys.executable, ROOT / "tests/torture/keep", "--seconds", str(seconds), "--kills", "100000",
                           "--work", tmp_path], capture_output=True, text=True, timeout=seconds + 300)
    assert done.returncode == 0, done.stderr
    assert "every digest as it must be" in done.stdout


def test_warm_fills_the_cache_for_a_job_that_then_asks_the_origin_for_nothing(pictures, tmp_path):
    cache = ["--keep-dir", tmp_path / "cache"]
    size = sum(len(payload) for _, payload in sets.samples(pictures))
    warmed = headrace_json("keep", "warm", pictures, *cache)
    assert warmed["samples"] == 60 and warmed["fetched_bytes"] >= size and warmed["not_kept_bytes"] == 0
    assert headrace_json("keep", "warm", pictures, *cache)["present_bytes"] == size
    epoch = headrace_json("read", pictures, *READ, *cache)["epochs"][0]
    assert epoch["bytes_cache"] == size
    full = headrace("keep", "warm", pictures, "--keep-dir", tmp_path / "small", "--keep-size", "1000")
    assert full.returncode == 1
    assert "found no place" in full.stdout


@pytest.mark.parametrize("size", ["1", "1000", "1M"])
def test_a_cache_too_small_for_anything_costs_nothing_but_itself(size, pictures, tmp_path):
    wanted = headrace_json("read", pictures, "--mode", "direct", "--batch", "16", "--epochs", "2")
    got = headrace_json("read", pictures, *READ, "--keep-dir", tmp_path / "cache", "--keep-size", size, "--epochs", "2")
    assert [e["order_digest"] for e in got["epochs"]] == [e["order_digest"] for e in wanted["epochs"]]
    said = ["limit" in notice["text"] for notice in got["notices"] if notice["kind"] == "keep-full"]
    assert said == ([] if size == "1M" else [True])
    assert sum(f.stat().st_size for f in (tmp_path / "cache/v1").iterdir()) <= (1 << 20)


def test_seek_indexes_outlive_the_job_in_the_cache_and_in_a_folder(tmp_path):
    # Large enough for an index of at most 4 % of a picture.
    pictures = sets.folder(tmp_path / "set", 2, 6, width=640, height=480)
    cache = ["--keep-dir", tmp_path / "cache"]
    first = headrace_json("read", pictures, *READ, *cache)

    def derived():
        pieces = headrace_json("keep", "list", "--keys", *cache)["pieces"]
        return sum(piece["length"] for piece in pieces if piece["derived"] and
                   piece["key"].startswith("jpeg-seek"))

    kept = derived()
    assert kept > 12 * 16
    again = headrace_json("read", pictures, *READ, *cache)
    assert [e["order_digest"] for e in again["epochs"]] == [e["order_digest"] for e in first["epochs"]]

    folder = tmp_path / "seeks"
    headrace_json("read", pictures, "--mode", "direct", "--batch", "16", "--seek-index", folder)
    files = list(folder.iterdir())
    assert len(files) == 1 and files[0].stat().st_size > 12 * 16
    assert not list(pictures.rglob(".headrace*"))  # nothing beside the data


@pytest.mark.parametrize("shuffle", ["global", "blocks:4x2", "node"])
def test_the_end_of_an_epoch_says_what_the_cache_gave_and_why(shuffle, pictures, tmp_path):
    for rank in ("0", "1"):  # one rank a node: each with a cache of its own
        job = ["read", pictures, *READ, "--epochs", "3", "--shuffle", shuffle, "--rank", rank, "--world-size", "2",
               "--nodes", "2", "--keep-dir"]
        done = headrace(*job, tmp_path / rank)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("of the bytes from the node cache") == 3
        shares = [e["cache_share"] for e in headrace_json(*job, tmp_path / f"{rank} again")["epochs"]]
        if shuffle == "node":
            assert shares == [0, 1, 1] and "read here before" not in done.stdout
        else:
            assert 0.5 < shares[2] < 1, "of 30 samples"
            assert f"--shuffle {shuffle} gives each of 2 nodes another 1/2" in done.stdout
            assert "on average 1 - (1 - 1/2)^2 = 75.0 % were read here before" in done.stdout
    alone = headrace("read", pictures, *READ, "--keep-dir", tmp_path / "alone", "--epochs", "2")
    assert "100.0 % of the bytes from the node cache" in alone.stdout
    assert "every epoch" not in alone.stdout


def test_validation_is_kept_too_and_stands_ready_when_an_epoch_ends(pictures, tmp_path):
    slow = ["--medium", "s3-standard", "--accelerator", "emulated:120"]  # 30 ms a read; half a second an epoch
    result = headrace_json("read", pictures, *READ, "--keep-dir", tmp_path / "cache", *slow, "--epochs", "2",
                           "--val", pictures)
    first, second = result["validation"]
    assert first["wait_next_nanos"] < 30e6, "less than its first read alone would take"
    assert second["bytes_origin"] == 0 and second["bytes_cache"] > 0
    assert result["epochs"][1]["bytes_origin"] == 0
