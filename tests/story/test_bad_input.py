# SPDX-License-Identifier: Apache-2.0
"""Input that is not as it should be: each ends in a clear error or follows the policy, is counted
and listed; nothing hangs (every command here has a time-out), nothing is lost in silence."""

import json
import shutil

import pytest
import sets
from cli import headrace, headrace_json


@pytest.fixture
def copy(labelled, tmp_path):
    return shutil.copytree(labelled, tmp_path / "set")


def refused(done, *words):
    """The command failed, said so once on stderr, and named these."""
    assert done.returncode == 1, done.stderr
    for word in words:
        assert str(word) in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) <= 4, done.stderr


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


def text(path):
    path.write_text("not a picture\n" * 20)


@pytest.mark.parametrize("damage", [cut, empty, text])
def test_a_damaged_picture_follows_the_policy(copy, tmp_path, damage):
    damage(copy / "class-1/7.jpg")
    refused(headrace("read", copy), "class-1/7.jpg", "corrupt")

    listed = tmp_path / "bad.jsonl"
    for policy, counted in (("skip", "skipped"), ("substitute", "substituted")):
        listed.unlink(missing_ok=True)
        epoch = headrace_json("read", copy, "--on-bad", policy, "--quarantine", listed)["epochs"][0]
        assert epoch["delivered"] == 99 and epoch[counted] == 1
        assert epoch["asked"] == 100
        lines = [json.loads(line) for line in listed.read_text().splitlines()]
        assert [line["object"] for line in lines] == ["class-1/7.jpg"]
        assert epoch["quarantined"] == 1 and lines[0]["reason"]


def test_a_skipped_picture_is_missing_from_the_digest_and_no_other(copy):
    cut(copy / "class-1/7.jpg")
    epoch = headrace_json("read", copy, "--on-bad", "skip")["epochs"][0]
    good = [pair for pair in sets.samples(copy)
            if pair[1] != (copy / "class-1/7.jpg").read_bytes()]
    assert epoch["set_digest"] == sets.set_digest(good)


def test_a_picture_is_found_by_content_whatever_its_name(copy):
    (copy / "class-1/7.jpg").write_bytes(sets.picture(7, kind="PNG"))
    assert headrace_json("read", copy)["epochs"][0]["delivered"] == 100


def test_a_picture_beside_the_class_folders_is_named(copy):
    (copy / "stray.jpg").write_bytes(sets.picture(1))
    refused(headrace("read", copy), "stray.jpg", "--root-files-skip")
    assert headrace_json("read", copy, "--root-files-skip")["epochs"][0]["delivered"] == 100


def test_an_unknown_class_in_validation_is_named(labelled, copy):
    (copy / "zebra").mkdir()
    (copy / "zebra/1.jpg").write_bytes(sets.picture(1))
    refused(headrace("read", labelled, "--val", copy), "zebra")


def test_an_empty_or_missing_folder_is_an_error(tmp_path):
    (tmp_path / "nothing").mkdir()
    refused(headrace("read", tmp_path / "nothing"), "nothing")
    refused(headrace("read", tmp_path / "missing"), "missing")


def test_a_cut_container_is_an_error_that_says_where(packed, tmp_path):
    shutil.copytree(packed, tmp_path / "set")
    rec = tmp_path / "set/train.rec"
    rec.write_bytes(rec.read_bytes()[:-700])
    refused(headrace("read", tmp_path / "set"), "train.rec")
    verified = headrace("verify", tmp_path / "set", "--json")
    assert verified.returncode == 1
    rec.with_suffix(".idx").unlink()
    refused(headrace("read", tmp_path / "set"), "train.rec")


def test_an_index_that_does_not_fit_is_not_believed(labelled, packed, tmp_path):
    """The container itself says where its records are: it is read instead, and that is told."""
    shutil.copytree(packed, tmp_path / "set")
    index = tmp_path / "set/train.idx"
    lines = [line.split("\t") for line in index.read_text().splitlines()]
    index.write_text("".join(f"{key}\t{int(offset) + 4}\n" for key, offset in lines))
    done = headrace("read", tmp_path / "set")
    assert done.returncode == 0 and "the index of train.rec does not fit it" in done.stdout
    epoch = headrace_json("read", tmp_path / "set")["epochs"][0]
    assert epoch["set_digest"] == sets.set_digest(sets.samples(labelled))
