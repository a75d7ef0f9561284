# SPDX-License-Identifier: Apache-2.0
"""The node cache as users meet it: a second run without the origin, commands, kills and damage."""

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
    assert len(keys) == 60
    stat = headrace_json("keep", "stat", *cache)
    assert stat["pieces"] == 60 and stat["live"] == 0
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
    done = subprocess.run([sys.executable, ROOT / "tests/torture/keep", "--kills", "15",
                           "--work", tmp_path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "every digest as it must be" in done.stdout
