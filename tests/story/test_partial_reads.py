# SPDX-License-Identifier: Apache-2.0
"""Reading of each picture only what its crop needs, from the node cache: the same order, digests and counts."""

import pathlib

import pytest
import sets
from cli import headrace, headrace_json

# So small a budget that an epoch is not asked for long before the one before it was decoded.
READ = ["--batch", "8", "--threads", "2", "--budget", "200K", "--depth", "1", "--size", "64", "--epochs", "3"]
COUNTS = ("order_digest", "set_digest", "asked", "delivered", "substituted", "skipped", "dropped", "padded")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> pathlib.Path:
    return sets.detailed_folder(tmp_path_factory.mktemp("partial") / "set", 60)


@pytest.fixture(scope="module")
def direct(pictures):
    return headrace_json("read", pictures, "--mode", "direct", *READ)


def counts(result):
    return [{name: epoch[name] for name in COUNTS} for epoch in result["epochs"]]


# Promise D6: With `--partial-reads` a sample that is read in parts counts by the hash of its payload when it was
# read whole, and every block that is read must fit its checksum of then; the digests are those of every other
# mode, and the JSON says `"digest_basis":"blocks"`.
def test_digests_are_those_of_every_mode_and_fewer_bytes_are_read(pictures, direct, tmp_path):
    keep = ["--mode", "keep", "--keep-dir", tmp_path / "cache"]
    headrace_json("keep", "warm", pictures, "--keep-dir", tmp_path / "cache")
    whole = headrace_json("read", pictures, *keep, *READ)
    parts = headrace_json("read", pictures, *keep, *READ, "--partial-reads")
    assert counts(direct) == counts(whole) == counts(parts)
    for result in (direct, whole):
        assert [e["digest_basis"] for e in result["epochs"]] == ["payload"] * 3
        assert [e["samples_in_parts"] for e in result["epochs"]] == [0] * 3
    size = sum(len(payload) for _, payload in sets.samples(pictures))
    assert [e["bytes_cache"] for e in whole["epochs"]] == [size] * 3
    first, second, third = parts["epochs"]
    assert first["digest_basis"] == "payload" and first["bytes_cache"] == size
    for epoch in (second, third):
        assert epoch["digest_basis"] == "blocks"
        assert 30 < epoch["samples_in_parts"] <= 60
        assert epoch["bytes_cache"] < 0.85 * size
        assert epoch["bytes_origin"] == 0 and epoch["cache_hits"] == 60 and epoch["cache_misses"] == 0


def test_a_later_job_reads_in_parts_from_its_first_epoch_on(pictures, direct, tmp_path):
    command = ["read", pictures, "--mode", "keep", "--keep-dir", tmp_path / "cache", *READ, "--partial-reads"]
    first = headrace_json(*command)
    again = headrace_json(*command)
    assert counts(first) == counts(again) == counts(direct)
    # What was noted is brought in beside the first reads.
    assert first["epochs"][0]["samples_in_parts"] == 0 < again["epochs"][0]["samples_in_parts"]
    # Other labels are another set's, whatever is kept: notes hold labels.
    listed = tmp_path / "all.lst"
    keys = sorted(p.relative_to(pictures).as_posix() for p in pictures.rglob("*.jpg"))
    listed.write_text("".join(f"{i}\t7\t{key}\n" for i, key in enumerate(keys)))
    sevens = headrace_json("read", pictures, "--mode", "direct", *READ, "--list", listed)
    assert counts(headrace_json(*command, "--list", listed)) == counts(sevens) != counts(direct)


def test_the_table_says_so(pictures, tmp_path):
    done = headrace("read", pictures, "--mode", "keep", "--keep-dir", tmp_path / "cache", *READ, "--partial-reads")
    assert done.returncode == 0, done.stderr
    assert "samples read in parts, digests by their blocks" in done.stdout


@pytest.mark.parametrize("target", ["recordio", "protobuf", "tfrecord", "tar", "mds", "manifest"])
def test_records_of_containers_are_read_in_parts_too(pictures, tmp_path, target):
    headrace_json("convert", pictures, "--format", target, "--out", tmp_path / "there")
    cache = ["--mode", "keep", "--keep-dir", tmp_path / "cache"]
    whole = headrace_json("read", tmp_path / "there", "--mode", "direct", *READ)
    parts = headrace_json("read", tmp_path / "there", *cache, *READ, "--partial-reads")
    assert counts(parts) == counts(whole)
    last = parts["epochs"][2]
    assert last["samples_in_parts"] > 30
    assert last["bytes_cache"] < 0.85 * whole["epochs"][2]["bytes_origin"]


def test_a_resumed_epoch_says_how_its_digests_came_about(pictures, direct, tmp_path):
    command = ["read", pictures, "--mode", "keep", "--keep-dir", tmp_path / "cache", *READ, "--partial-reads"]
    state = tmp_path / "state"
    headrace_json(*command, "--state", state)
    saved = state.read_text()
    assert "in-parts=" in saved  # of the epochs that ended
    result = headrace_json(*command, "--state", state, "--resume", state)
    assert counts(result) == counts(direct)
    assert [e["digest_basis"] for e in result["epochs"]] == ["payload", "blocks", "blocks"]


@pytest.mark.parametrize("options, says", [
    (["--mode", "direct"], "--partial-reads belongs to mode keep, and this job has mode direct"),
    (["--mode", "keep", "--no-decode"], "--partial-reads needs pixels"),
    (["--mode", "keep", "--no-seek-index"], "--partial-reads needs seek indexes"),
])
def test_where_it_cannot_work_it_is_refused(pictures, tmp_path, options, says):
    done = headrace("read", pictures, *options, "--partial-reads")
    assert done.returncode == 2
    assert says in done.stderr


def test_the_caches_disk_can_be_as_slow_as_a_medium(pictures, direct, tmp_path):
    keep = ["--mode", "keep", "--keep-dir", tmp_path / "cache"]
    slow = headrace_json("read", pictures, *keep, *READ, "--partial-reads", "--keep-medium", "ebs-gp3")
    assert counts(slow) == counts(direct)
    assert headrace("read", pictures, *keep, "--keep-medium", "floppy").returncode == 2
    refused = headrace("read", pictures, "--mode", "direct", "--keep-medium", "ebs-gp3")
    assert refused.returncode == 2
    assert "--keep-medium belongs to mode keep" in refused.stderr
