# SPDX-License-Identifier: Apache-2.0
"""verify, and what becomes of bad samples: found, listed, looked at again."""

import hashlib
import json
import shutil

import pytest
import sets
from cli import headrace, headrace_json
from tree import ROOT

VECTORS = ROOT / "tests/data/vectors"


@pytest.fixture(scope="module")
def torture(tmp_path_factory):
    """Every picture of the vectors, good or not, as a labelled folder."""
    root = tmp_path_factory.mktemp("torture") / "set"
    for kind in ("jpeg", "png", "webp"):
        shutil.copytree(VECTORS / kind, root / kind)
    for path in root.rglob("*"):
        if path.is_file() and path.suffix in {".json", ".tsv", ".md", ".txt"}:
            path.unlink()
    return root


# Promise V3: With `--decode` a picture is good exactly if the loader would deliver it.
def test_verify_and_the_loader_agree_on_every_picture(torture, tmp_path):
    listed = tmp_path / "bad.jsonl"
    epoch = headrace_json("read", torture, "--on-bad", "skip", "--quarantine", listed)["epochs"][0]
    bad = {json.loads(line)["object"] for line in listed.read_text().splitlines()}
    assert epoch["skipped"] == len(bad) > 50 and epoch["delivered"] > 200
    done = headrace("verify", torture, "--decode", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert {entry["object"] for entry in report["damage"]} == bad
    assert report["good"] == epoch["delivered"]
    assert report["set_digest"] == epoch["set_digest"]


def test_without_decoding_only_structure_is_seen_and_that_is_said(torture):
    done = headrace("verify", torture)
    assert done.returncode == 1
    assert "nothing was decoded" in done.stdout
    structure = json.loads(headrace("verify", torture, "--json").stdout)
    assert structure["decoded"] is False
    assert 0 < structure["bad"]


def test_the_page_opens_alone_and_shows_the_worst(torture, tmp_path):
    page = tmp_path / "report.html"
    assert headrace("verify", torture, "--decode", "--report", page).returncode == 1
    text = page.read_text()
    assert "Not clean" in text and "Bad samples" in text and "Most stretched" in text
    assert text.count("data:image/") > 20
    assert "http://" not in text and "https://" not in text and "<script" not in text


def test_a_clean_set_is_clean_and_counted(labelled, tmp_path):
    report = headrace_json("verify", labelled, "--decode", "--report", tmp_path / "report.html")
    assert report["end"] == "clean" and report["decoded"] is True
    assert [c["samples"] for c in report["classes"]] == [25, 25, 25, 25]
    assert sum(entry["samples"] for entry in report["sizes"]) == 100
    assert {entry["why"] for entry in report["odd"]} == {"smallest", "largest", "stretched"}
    assert "Clean" in (tmp_path / "report.html").read_text()


def test_missing_shards_are_not_clean(labelled, tmp_path):
    headrace_json("convert", labelled, "--format", "recordio", "--shards", 4, "--out", tmp_path / "set")
    assert headrace("verify", tmp_path / "set").returncode == 0
    for suffix in ("rec", "idx", "lst"):
        (tmp_path / f"set/set-00002-of-00004.{suffix}").unlink()
    done = headrace("verify", tmp_path / "set", "--json")
    assert done.returncode == 1
    assert "3 of 4 shards" in json.loads(done.stdout)["missing"]
    assert "missing: 3 of 4 shards" in headrace("verify", tmp_path / "set").stdout


def damage_record(folder, record):
    offset = int((folder / "train.idx").read_text().splitlines()[record].split()[1])
    data = bytearray((folder / "train.rec").read_bytes())
    data[offset + 8 + 24 : offset + 8 + 24 + 40] = bytes(40)  # the picture's head
    (folder / "train.rec").write_bytes(data)
    return offset


def test_a_quarantined_record_is_looked_at_again(labelled, packed, tmp_path):
    folder = shutil.copytree(packed, tmp_path / "set")
    good = (folder / "train.rec").read_bytes()
    offset = damage_record(folder, 41)
    bad = tmp_path / "bad.jsonl"
    stopped = headrace("read", folder, "--quarantine", bad)
    assert stopped.returncode == 1
    (line,) = [json.loads(text) for text in bad.read_text().splitlines()]
    assert line["uri"] == str(folder) and line["object"] == "train.rec"
    assert line["record"] == 41 and line["offset"] == offset and line["bytes"] > 0 and line["reason"]

    done = headrace("inspect", "--replay", bad, "--json")
    assert done.returncode == 1
    replayed, end = [json.loads(text) for text in done.stdout.splitlines()]
    assert replayed["then"] == line["reason"] and replayed["now"] == line["reason"]
    assert replayed["offset"] == offset and len(replayed["sha256"]) == 64
    assert end == {"schema": 1, "samples": 1, "bad": 1}

    stamp = (folder / "train.rec").stat()
    (folder / "train.rec").write_bytes(good)  # repaired
    assert stamp.st_size == len(good)
    repaired = headrace("inspect", "--replay", bad)
    assert repaired.returncode == 0 and "now:  good" in repaired.stdout

    (folder / "train.rec").write_bytes(good[: len(good) // 8])  # another set by now
    other = headrace("inspect", "--replay", bad)
    assert other.returncode == 1 and "another one by now" in other.stderr


def test_a_long_stretch_that_is_damaged_says_what_of_it_was_looked_at(tmp_path):
    """Its end is told, and how far the bytes go that the digest is of."""
    rec = VECTORS / "mxnet/damage_bad_magic.rec"
    bad = tmp_path / "bad.jsonl"
    assert headrace("read", rec, "--on-bad", "skip", "--quarantine", bad).returncode == 0
    (line,) = [json.loads(text) for text in bad.read_text().splitlines()]
    assert (line["offset"], line["bytes"]) == (41368, 4096)
    assert line["reason"] == "10620 bytes, of which the first 4096 are looked at: no RecordIO magic"
    replayed, _ = map(json.loads, headrace("inspect", "--replay", bad, "--json").stdout.splitlines())
    assert replayed["now"] == line["reason"]
    assert replayed["sha256"] == hashlib.sha256(rec.read_bytes()[41368 : 41368 + 4096]).hexdigest()


@pytest.mark.parametrize("text", ["not json\n", "{}\n", '{"uri": 7}\n'])
def test_what_is_no_quarantine_file_is_said_with_its_line(tmp_path, text):
    (tmp_path / "bad.jsonl").write_text(text)
    done = headrace("inspect", "--replay", tmp_path / "bad.jsonl")
    assert done.returncode == 1 and "bad.jsonl:1" in done.stderr


def test_a_budget_may_be_a_share_or_percents(labelled, tmp_path):
    copy = shutil.copytree(labelled, tmp_path / "set")
    for name in ("1.jpg", "2.jpg"):
        (copy / "class-1" / name).write_bytes(b"")
    for enough in ("2%", "0.02", "100%"):
        assert headrace("read", copy, "--on-bad", "skip", "--max-bad", enough).returncode == 0
    for little in ("1.9%", "0.01", "0"):
        done = headrace("read", copy, "--on-bad", "skip", "--max-bad", little)
        assert done.returncode == 1 and "of 100 samples" in done.stderr
    assert headrace("read", copy, "--max-bad", "200%").returncode == 2


@pytest.mark.parametrize("options, option, mode", [
    (["--keep-dir", "/nowhere"], "--keep-dir", "direct"),
    (["--keep-size", "1G", "--mode", "stream"], "--keep-size", "stream"),
    (["--local", "/nowhere", "--mode", "keep"], "--local", "keep"),
    (["--pipe-dir", "/nowhere"], "--pipe-dir", "direct"),
    (["--pairs"], "--pairs", "direct"),
])
def test_an_option_of_another_mode_is_a_usage_error(labelled, options, option, mode):
    done = headrace("read", labelled, *options)
    assert done.returncode == 2
    assert option in done.stderr and f"mode {mode}" in done.stderr


def test_a_medium_that_is_not_known_is_said_before_any_work(tmp_path):
    done = headrace("read", tmp_path / "nowhere", "--medium", "punch-cards")
    assert done.returncode == 2 and "punch-cards" in done.stderr


def test_what_has_no_end_is_refused(labelled):
    done = headrace("read", labelled, "--resume", "/dev/zero", timeout=20)
    assert done.returncode == 1 and "/dev/zero" in done.stderr
    assert headrace("inspect", "/dev/zero", "--decode", timeout=60).returncode == 1


def test_a_servers_folder_that_is_not_there_is_a_usage_error(labelled):
    done = headrace("compare", labelled, "--server-data", "/nope")
    assert done.returncode == 2 and "/nope" in done.stderr


def test_sets_digest_of_a_set_by_definition(labelled):
    assert headrace_json("verify", labelled)["set_digest"] == sets.set_digest(sets.samples(labelled))
