# SPDX-License-Identifier: Apache-2.0
"""`inspect --records --json` over every golden file of a format, held against its manifest."""

import json
import shutil
import struct

import pytest
from cli import headrace
from tree import ROOT

VECTORS = ROOT / "tests/data/vectors"
NAMES = ["record", "offset", "length", "sha256", "key", "label"]


def entries(folder):
    manifest = json.loads((VECTORS / folder / "manifest.json").read_text())
    return [pytest.param(entry["file"], entry["expect"], id=entry["file"]) for entry in manifest["files"]
            if not entry["file"].endswith((".json", ".idx", ".lst"))]


def inspect(file, tmp_path, *options):
    """Records and end of one file, which lies alone, so that nothing beside it is seen."""
    copy = tmp_path / file.split("/")[-1]
    shutil.copyfile(VECTORS / file, copy)
    done = headrace("inspect", copy, "--records", "--json", *options)
    *records, end = map(json.loads, done.stdout.splitlines())
    assert end["schema"] == 1 and end["end"] in ("clean", "damaged")
    assert end["records"] == len(records)
    assert (end["end"] == "clean") == (end["damage"] == [])
    assert done.returncode == (0 if end["end"] == "clean" else 1), done.stderr
    for record in records:
        assert [name for name in record if name in NAMES] == NAMES
    for damage in end["damage"]:
        assert damage["begin"] <= damage["end"] and damage["why"]
    return records, end


def check(records, end, expect):
    """What the manifest says of any format."""
    if "good_records_before_damage" in expect:
        good = expect["good_records_before_damage"]
        begins = [damage["begin"] for damage in end["damage"]]
        before = [r for r in records if not begins or r["offset"] < min(begins)]
        assert len(before) >= good
    if "count" in expect:
        assert end["records"] == expect["count"]
        assert end["end"] == "clean"
    for record, expected in zip(records, expect.get("records", [])):
        assert record["record"] == expected["n"]
        for name in ("offset", "length", "sha256"):
            assert record[name] == expected.get(name, record[name])


def tfrecord_label(example):
    """As it is stored; nothing if there is none or float32 does not hold it."""
    feature = (example or {}).get("image/class/label", {})
    if "float_bits" in feature:
        values = [struct.unpack(">f", bytes.fromhex(bits))[0] for bits in feature["float_bits"]]
    else:
        values = [int(text) for text in feature.get("int64", feature.get("bytes", []))]
    if any(struct.unpack("<f", struct.pack("<f", value))[0] != value for value in values):
        return None
    return None if not values else values[0] if len(values) == 1 else values


CLEAN_FOR_TENSORFLOW = {  # data that it loses without a word are damage
    "tfrecord/damage_trailing_byte.tfrecord", "tfrecord/damage_trunc_in_header.tfrecord",
    "tfrecord/damage_trunc_in_length_crc.tfrecord"}


@pytest.mark.parametrize("file, expect", entries("tfrecord"))
def test_tfrecord(file, expect, tmp_path):
    records, end = inspect(file, tmp_path)
    check(records, end, expect)
    for record, expected in zip(records, expect.get("records", [])):
        assert record["key"] is None
        if "example" in expected:
            assert record["label"] == tfrecord_label(expected["example"])
    if "sha256_of_good" in expect:
        assert [record["sha256"] for record in records] == expect["sha256_of_good"]
    if "lengths" in expect:
        assert [record["length"] for record in records] == expect["lengths"]
    theirs = expect.get("tensorflow_end")
    if theirs:
        assert end["end"] == ("clean" if theirs == "clean" and file not in CLEAN_FOR_TENSORFLOW else "damaged")


def protobuf_label(label):
    if len(label) != 1:
        return None
    (value,) = label.values()
    numbers = [float(text) for text in value.get("values", [])]
    numbers = [None if number != number else number for number in numbers]
    return None if not numbers else numbers[0] if len(numbers) == 1 else numbers


@pytest.mark.parametrize("file, expect", entries("sagemaker"))
def test_sagemaker(file, expect, tmp_path):
    records, end = inspect(file, tmp_path)
    check(records, end, expect)
    for record, expected in zip(records, expect.get("records", [])):
        if "label" in expected:
            assert record["key"] == expected.get("uid")
            assert record["label"] == protobuf_label(expected["label"])
    if "damage_" in file and not file.endswith("damage_empty.pbr"):
        assert end["end"] == "damaged"


@pytest.mark.parametrize("file, expect", entries("mxnet"))
def test_recordio(file, expect, tmp_path):
    records, end = inspect(file, tmp_path)
    check(records, end, expect)


def test_both_readings_of_parts(tmp_path):
    file = "sagemaker/split_sagemaker.pbr"
    records, end = inspect(file, tmp_path, "--recordio-parts", "sagemaker")
    assert [record["length"] for record in records] == [63, 63] and end["end"] == "clean"
    _, end = inspect(file, tmp_path, "--recordio-parts", "dmlc")
    assert end["end"] == "damaged"
