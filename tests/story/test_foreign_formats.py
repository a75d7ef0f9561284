# SPDX-License-Identifier: Apache-2.0
"""What inspect --records prints of sets that webdataset and mosaicml-streaming wrote, against what
these libraries read from them (tests/data/vectors)."""

import json

import pytest
from cli import headrace
from tree import ROOT

VECTORS = ROOT / "tests/data/vectors"


def entries(folder):
    return json.loads((VECTORS / folder / "manifest.json").read_text())["files"]


def records(path):
    done = headrace("inspect", path, "--records", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines and lines[-1]["schema"] == 1, done.stderr
    assert done.returncode == (0 if lines[-1]["end"] == "clean" else 1)
    assert lines[-1]["records"] == len(lines) - 1
    return lines[:-1], lines[-1]


WHOLE_TARS = [e for e in entries("webdataset")
              if "damage_" not in e["file"] and not e["file"].endswith(("macos.tar", "dup_field.tar"))]


@pytest.mark.parametrize("entry", WHOLE_TARS, ids=lambda e: e["file"].split("/")[1])
def test_tar_samples(entry):
    found, end = records(VECTORS / entry["file"])
    assert end["end"] == "clean"
    expected = entry["expect"]["samples"]
    assert [one["key"] for one in found] == [one["__key__"] for one in expected]
    for mine, theirs in zip(found, expected):
        assert mine["fields"] == {name: {"bytes": value["bytes"], "sha256": value["sha256"]}
                                  for name, value in theirs["fields"].items()}
    for mine in found:
        label = entry["expect"].get("labels", {}).get(mine["key"])
        assert label is None or mine["label"] == label


SETS = [e for e in entries("mds") if "shards" in e["expect"]]


@pytest.mark.parametrize("entry", SETS, ids=lambda e: e["file"].split("/")[1])
def test_mds_columns(entry):
    found, end = records((VECTORS / entry["file"]).parent)
    assert end["end"] == "clean"
    expected = [one for shard in entry["expect"]["shards"] for one in shard["records"]]
    offsets = [one for shard in entry["expect"]["shards"] for one in shard["offsets"][:-1]]
    assert [one["record"] for one in found] == [one["n"] for one in expected]
    assert [one["offset"] for one in found] == offsets
    for mine, theirs in zip(found, expected):
        assert (mine["length"], mine["sha256"]) == (theirs["bytes"], theirs["sha256"])
        assert mine["fields"] == theirs["columns"]


DAMAGED = sorted({e["file"].split("/")[1] for e in entries("mds") if "/damage_" in e["file"]})


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_mds_is_named_and_ends_with_1(name):
    done = headrace("inspect", VECTORS / "mds" / name, "--records", "--json")
    whole = name in ("damage_base", "damage_bitflip")  # one bit: only the hash of the shard tells
    assert done.returncode == (0 if whole else 1), done.stdout
    assert whole or '"why"' in done.stdout or "headrace: " in done.stderr
