# SPDX-License-Identifier: Apache-2.0
"""`headrace read`, `fetch` and `pipe` as users meet them: what they print, how they end, and that
a job that was broken off goes on as if it had not been."""

import io
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tarfile
import time

import pytest
import sets
from cli import HEADRACE, headrace, headrace_json
from fault_server import FaultServer

SMALL = ["--batch", "8", "--size", "32"]
EPOCH_FIELDS = {
    "epoch", "asked", "delivered", "substituted", "skipped", "dropped", "padded", "quarantined",
    "seconds", "samples_per_second", "accelerator_busy", "order_digest", "set_digest",
    "digest_basis", "samples_in_parts",
    "bytes_origin", "bytes_cache", "requests", "retries"}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> pathlib.Path:
    return sets.folder(tmp_path_factory.mktemp("set") / "pictures", 3, 20)


@pytest.fixture(scope="module")
def packed(pictures, tmp_path_factory) -> pathlib.Path:
    return sets.recordio(tmp_path_factory.mktemp("packed") / "train.rec", sets.samples(pictures))


def digests(result: dict) -> list[tuple[str, str]]:
    return [(e["order_digest"], e["set_digest"]) for e in result["epochs"]]


def test_json_holds_every_promised_field(pictures):
    result = headrace_json("read", pictures, *SMALL, "--epochs", "2")
    assert result["schema"] == 1
    assert result["launch_seconds"] > 0
    assert [e["epoch"] for e in result["epochs"]] == [0, 1]
    wanted = sets.set_digest(sets.samples(pictures))
    for epoch in result["epochs"]:
        assert EPOCH_FIELDS <= epoch.keys()
        assert epoch["asked"] == epoch["delivered"] == 60
        assert epoch["set_digest"] == wanted
        assert epoch["accelerator_busy"] is None
    assert result["epochs"][0]["order_digest"] != result["epochs"][1]["order_digest"]


def test_all_modes_deliver_the_same_order(pictures, packed, tmp_path):
    wanted = digests(headrace_json("read", pictures, *SMALL, "--epochs", "2"))
    for uri, modes in [(pictures, "direct file stream keep"), (packed, "direct file stream keep pipe")]:
        for mode in modes.split():
            cache = ["--keep-dir", tmp_path / f"keep-{uri.name}"] if mode == "keep" else []
            result = headrace_json("read", uri, *SMALL, "--epochs", "2", "--mode", mode, *cache)
            assert digests(result) == wanted, f"{mode} of {uri}"
            assert result["mode"] == mode


def test_pipe_of_pictures_says_what_it_needs(pictures):
    done = headrace("read", pictures, *SMALL, "--mode", "pipe", "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "pack" in done.stderr and "--pairs" in done.stderr


def test_people_get_a_table_and_no_progress_line_in_a_pipe(pictures):
    done = headrace("read", pictures, *SMALL)
    assert done.returncode == 0
    assert "samples/s" in done.stdout and "order digest" in done.stdout
    assert done.stderr == ""


def test_an_emulated_accelerator_is_busy_and_slows_the_job(pictures):
    result = headrace_json("read", pictures, *SMALL, "--accelerator", "emulated:60")
    assert 0.5 < result["epochs"][0]["accelerator_busy"] <= 1
    assert result["epochs"][0]["samples_per_second"] <= 61
    for wrong in ["emulated:", "emulated:-1", "gpu", "emulated:fast"]:
        done = headrace("read", pictures, *SMALL, "--accelerator", wrong)
        assert done.returncode == 2 and "emulated:RATE" in done.stderr


def test_tails(pictures):
    dropped = headrace_json("read", pictures, *SMALL, "--drop-last")["epochs"][0]
    assert (dropped["delivered"], dropped["dropped"], dropped["padded"]) == (56, 4, 0)
    padded = headrace_json("read", pictures, *SMALL, "--pad")["epochs"][0]
    assert (padded["delivered"], padded["dropped"], padded["padded"]) == (60, 0, 4)
    assert headrace("read", pictures, "--pad", "--drop-last").returncode == 2


def test_bad_pictures_follow_the_policy(pictures, tmp_path):
    bad = tmp_path / "bad"
    subprocess.run(["cp", "-r", pictures, bad], check=True)
    victim = sorted(bad.rglob("*.jpg"))[7]
    victim.write_bytes(victim.read_bytes()[:300])
    done = headrace("read", bad, *SMALL)
    assert done.returncode == 1
    assert victim.relative_to(bad).as_posix() in done.stderr
    listed = tmp_path / "bad.jsonl"
    skip = headrace_json("read", bad, *SMALL, "--on-bad", "skip", "--quarantine", listed)["epochs"][0]
    assert (skip["delivered"], skip["skipped"], skip["quarantined"]) == (59, 1, 1)
    line = json.loads(listed.read_text())
    assert line["object"] == victim.relative_to(bad).as_posix()
    assert line["bytes"] == 300 and line["reason"]
    other = headrace_json("read", bad, *SMALL, "--on-bad", "substitute")["epochs"][0]
    assert (other["delivered"], other["substituted"]) == (59, 1)
    assert headrace("read", bad, *SMALL, "--on-bad", "skip", "--max-bad", "0.01").returncode == 1


def start(*arguments) -> subprocess.Popen:
    return subprocess.Popen([HEADRACE, *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


SLOW = ["--epochs", "3", "--accelerator", "emulated:100"]  # 0.6 s an epoch


@pytest.mark.parametrize("moment", [0.05, 0.3, 0.8, 1.3, 1.7])
@pytest.mark.parametrize("mode", ["direct", "keep"])
def test_a_killed_job_goes_on_as_if_unbroken(pictures, tmp_path, mode, moment):
    cache = ["--keep-dir", tmp_path / "keep"] if mode == "keep" else []
    how = [*SMALL, "--mode", mode, *cache, "--val", pictures]
    unbroken = headrace_json("read", pictures, *how, "--epochs", "3")
    state = tmp_path / "state"
    job = start("read", pictures, *how, *SLOW, "--state", state)
    time.sleep(moment)
    job.kill()
    job.communicate()
    resume = ["--resume", state] if state.exists() else []
    rest = headrace_json("read", pictures, *how, "--epochs", "3", "--threads", "5", "--state", state,
                         *resume)
    assert digests(rest) == digests(unbroken)
    assert [e["delivered"] for e in rest["epochs"]] == [60, 60, 60]
    assert [e["set_digest"] for e in rest["validation"]] == [
        e["set_digest"] for e in unbroken["validation"]]
    again = headrace_json("read", pictures, *how, "--epochs", "3", "--resume", state)
    assert digests(again) == digests(unbroken)


def added(results: list[dict], field: str) -> list[str]:
    """Digests of several ranks, added up."""
    by_epoch: dict[int, int] = {}
    for result in results:
        for epoch in result["epochs"]:
            by_epoch[epoch["epoch"]] = by_epoch.get(epoch["epoch"], 0) + int(epoch[field], 16)
    return [f"{by_epoch[e] % 2**128:032x}" for e in sorted(by_epoch)]


def test_a_killed_job_goes_on_with_two_ranks(pictures, tmp_path):
    unbroken = headrace_json("read", pictures, *SMALL, "--epochs", "3")
    state = tmp_path / "state"
    job = start("read", pictures, *SMALL, *SLOW, "--state", state)
    time.sleep(1)
    job.kill()
    job.communicate()
    ranks = [headrace_json("read", pictures, "--size", "32", "--batch", "4", "--epochs", "3",
                           "--world-size", "2", "--rank", rank, "--resume", state)
             for rank in range(2)]
    for field in ("order_digest", "set_digest"):
        assert added(ranks, field) == [e[field] for e in unbroken["epochs"]]


def test_ctrl_c_ends_within_a_second_and_saves_the_state(pictures, tmp_path):
    state = tmp_path / "state"
    job = start("read", pictures, *SMALL, "--accelerator", "emulated:2", "--state", state)
    deadline = time.monotonic() + 20
    while not state.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    before = time.monotonic()
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=20) == 130
    assert time.monotonic() - before < 1
    assert state.read_text().startswith("headrace-state 1\n")


def test_a_terminal_gets_a_progress_line(pictures):
    seen = seen_on_a_terminal("read", pictures, *SMALL, "--accelerator", "emulated:30")
    assert "samples/s" in seen and "step" in seen


def test_fetch_copies_names_and_bytes_and_does_nothing_twice(pictures, tmp_path):
    first = headrace_json("fetch", pictures, tmp_path / "copy")
    again = headrace_json("fetch", pictures, tmp_path / "copy")
    assert first["fetched_objects"] == 60 and again["fetched_objects"] == 0
    for path in (p for p in pictures.rglob("*") if p.is_file()):
        copy = tmp_path / "copy" / path.relative_to(pictures)
        assert copy.read_bytes() == path.read_bytes()
    read = headrace_json("read", tmp_path / "copy", *SMALL)
    assert read["epochs"][0]["set_digest"] == sets.set_digest(sets.samples(pictures))


def test_pipe_stored_is_the_file_itself(packed, tmp_path):
    writer = start("pipe", packed, "--dir", tmp_path / "fifos", "--channel", "train", "--epochs", "2")
    for epoch in range(2):
        fifo = tmp_path / "fifos" / f"train_{epoch}"
        deadline = time.monotonic() + 20
        while not fifo.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert fifo.read_bytes() == packed.read_bytes()
    assert writer.wait(timeout=20) == 0


def test_pipe_to_a_reader_of_another_process_has_its_order(packed, tmp_path):
    wanted = digests(headrace_json("read", packed, *SMALL, "--epochs", "2", "--seed", "5"))
    fifos = tmp_path / "fifos"
    writer = start("pipe", packed, "--dir", fifos, "--order", "global", "--epochs", "2", "--seed", "5",
                   "--batch", "8")
    result = headrace_json("read", packed, *SMALL, "--epochs", "2", "--seed", "5", "--mode", "pipe",
                           "--pipe-dir", fifos)
    assert digests(result) == wanted
    assert writer.wait(timeout=20) == 0


def test_pipe_without_a_reader_stops_within_a_second(packed, tmp_path):
    writer = start("pipe", packed, "--dir", tmp_path / "fifos")
    deadline = time.monotonic() + 20
    while not (tmp_path / "fifos" / "train_0").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    before = time.monotonic()
    writer.send_signal(signal.SIGINT)
    assert writer.wait(timeout=20) == 130
    assert time.monotonic() - before < 1


def seen_on_a_terminal(*arguments, env=None):
    """What a command writes to stderr, if that is a terminal; its exit code is 0."""
    ours, theirs = pty.openpty()
    job = subprocess.Popen([HEADRACE, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs, env=env)
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # the terminal's end
        pass
    finally:
        os.close(ours)
    assert job.wait() == 0
    return seen.decode()


# s3-connector-for-pytorch#167: the first sample waited in silence for a list of everything.
def test_a_folder_that_is_listed_is_seen_to_be(tmp_path):
    with FaultServer(tmp_path, "--classes", 20, "--keys", 60_000, slow_first_byte=1) as server:
        job = ["read", "s3://b", "--mode", "stream", "--no-decode", "--epochs", "0"]
        seen = seen_on_a_terminal(*job, env=server.env)
        piped = headrace(*job, env=server.env)
    counts = [int(count) for count in re.findall(r"listing: (\d+) objects so far", seen)]
    assert counts == sorted(counts) and 0 < counts[0] <= counts[-1] <= 60_000, seen
    assert piped.returncode == 0 and piped.stderr == ""


def test_a_container_that_is_scanned_is_seen_to_be(tmp_path):
    """The medium, all of whose credits are used up, is slow enough for the line to be shown."""
    picture = sets.picture(1)
    filling = bytes(1 << 20)
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for number in range(30):
            for suffix, content in (("cls", b"1"), ("jpg", picture), ("raw", filling)):
                member = tarfile.TarInfo(f"{number:03}.{suffix}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    job = ["read", tmp_path / "x.tar", "--medium", "efs-bursting", "--scale", "1000000", "--size", "16",
           "--index-dir"]
    seen = seen_on_a_terminal(*job, tmp_path / "indexes")
    assert re.search(r"no index yet: scanned [\d.]+ [kM]?B of 3\d\.\d MB, [\d.]+ [kM]?B/s, \d+:\d\d left", seen), seen
    assert "no index yet" not in seen_on_a_terminal(*job, tmp_path / "indexes"), "the index was kept"
    piped = headrace(*job, "none")
    assert piped.returncode == 0 and piped.stderr == ""
