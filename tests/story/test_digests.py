# SPDX-License-Identifier: Apache-2.0
"""Reading a folder: what is delivered, in which order, and how it is counted."""

import json

import pytest
import sets
from cli import headrace, headrace_json

FIELDS = {"epoch", "asked", "delivered", "substituted", "skipped", "dropped", "padded",
          "quarantined", "seconds", "samples_per_second", "accelerator_busy", "order_digest",
          "set_digest", "bytes_origin", "bytes_cache", "requests", "retries"}


def read(uri, *options, seed=7, **how):
    return headrace_json("read", uri, "--batch", 16, "--seed", seed, *options, **how)


def digests(result):
    return [(epoch["order_digest"], epoch["set_digest"]) for epoch in result["epochs"]]


def check_ledger(epoch):
    assert epoch["asked"] == (
        epoch["delivered"] + epoch["substituted"] + epoch["skipped"] + epoch["dropped"])


# Promise D1: The digests are computed from the bytes handed to the decoder, never from the plan.
# Promise L2: With neither `--drop-last`, `--pad` nor `--wrap` the last batch is short and every sample is
# delivered.
def test_a_folder_is_read_whole_and_its_digest_is_that_of_its_bytes(labelled):
    result = read(labelled, "--epochs", 2)
    assert result["schema"] == 1 and result["launch_seconds"] > 0
    assert [epoch["epoch"] for epoch in result["epochs"]] == [0, 1]
    for epoch in result["epochs"]:
        assert FIELDS <= set(epoch)
        assert epoch["asked"] == epoch["delivered"] == 100
        assert epoch["set_digest"] == sets.set_digest(sets.samples(labelled))
        assert epoch["bytes_origin"] >= sum(len(b) for _, b in sets.samples(labelled))
    assert result["epochs"][0]["order_digest"] != result["epochs"][1]["order_digest"]


# Promise D4: The number of threads changes no digest.
def test_threads_change_no_digest(labelled):
    expected = digests(read(labelled, "--epochs", 2, "--threads", 1))
    for threads in (2, 3, 8):
        assert digests(read(labelled, "--epochs", 2, "--threads", threads)) == expected


def test_seed_and_shuffle_change_the_order_only(labelled):
    first = read(labelled)["epochs"][0]
    for other in (read(labelled, seed=8), read(labelled, "--shuffle", "none")):
        assert other["epochs"][0]["order_digest"] != first["order_digest"]
        assert other["epochs"][0]["set_digest"] == first["set_digest"]


# Promise L1: In every epoch asked is delivered, substituted, skipped and dropped together.
@pytest.mark.parametrize("tail, dropped, padded", [((), 0, 0), (("--drop-last",), 4, 0),
                                                   (("--pad",), 0, 12)])
def test_the_tail_is_counted(labelled, tail, dropped, padded):
    epoch = read(labelled, *tail)["epochs"][0]
    check_ledger(epoch)
    assert (epoch["asked"], epoch["dropped"], epoch["padded"]) == (100, dropped, padded)


# Promise D5: The digests of all ranks add up to the digest of one rank alone.
@pytest.mark.parametrize("world", [2, 3])
def test_ranks_add_up(labelled, world):
    alone = headrace_json("read", labelled, "--batch", 12, "--seed", 7)["epochs"][0]
    parts = [headrace_json("read", labelled, "--batch", 12 // world, "--seed", 7, "--rank", rank,
                           "--world-size", world)["epochs"][0] for rank in range(world)]
    for kind in ("order_digest", "set_digest"):
        total = sum(int(part[kind], 16) for part in parts) & sets.MASK
        assert f"{total:032x}" == alone[kind]
    assert sum(part["delivered"] for part in parts) == 100


# Promise D2: Two sets with the same labels and payloads have the same set digest, whatever their
# format and order.
# Promise D3: A folder and the container that `pack` makes of it have the same order digest.
def test_a_folder_and_its_pack_are_one_order(labelled, tmp_path):
    assert headrace("pack", labelled, "--format", "recordio", "--out", tmp_path / "packed").returncode == 0
    assert digests(read(tmp_path / "packed")) == digests(read(labelled))


def test_a_container_of_another_writer_is_the_same_set(labelled, packed):
    assert digests(read(packed)) == digests(read(labelled))


# Promise M3: Nothing is written where the data is kept, unless asked.
def test_reading_writes_nothing_beside_the_data(labelled, packed):
    for folder in (labelled, packed):
        before = sorted(p.name for p in folder.rglob("*"))
        read(folder, "--epochs", 2)
        assert sorted(p.name for p in folder.rglob("*")) == before


# Promise P4: With `--json` standard output holds only JSON.
def test_json_is_all_that_json_prints(labelled):
    done = headrace("read", labelled, "--json")
    assert json.loads(done.stdout)["schema"] == 1
    failed = headrace("read", labelled / "nothing-here", "--json")
    assert failed.returncode == 1 and "nothing-here" in failed.stderr
    assert failed.stdout == "" or json.loads(failed.stdout)
