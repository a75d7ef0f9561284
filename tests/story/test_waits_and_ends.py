# SPDX-License-Identifier: Apache-2.0
"""What a command says while it waits for another program, and what it leaves where it could not end well."""

import os
import signal
import subprocess
import time

import pytest
import sets
from cli import HEADRACE, headrace, headrace_json
from volume import volume


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Enough samples that a pack of them can be stopped on its way."""
    folder = tmp_path_factory.mktemp("large") / "class"
    folder.mkdir()
    picture = sets.picture(1)
    for i in range(20000):
        (folder / f"{i:05}.jpg").write_bytes(picture)
    return folder.parent


def test_a_reader_says_which_fifo_it_waits_for_and_gives_up_when_it_said(labelled, tmp_path):
    missing = tmp_path / "missing"
    done = headrace("read", labelled, "--mode", "pipe", "--pairs", "--pipe-dir", missing, "--pipe-wait", 3)
    assert done.returncode == 1 and done.stdout == ""
    waits, error = done.stderr.splitlines()
    assert f"waits up to 3 s for the FIFO {missing}/train_0" in waits and "folder is missing" in waits
    assert f"{missing}/train_0" in error and "within 3 s" in error
    assert f"headrace pipe URI --dir {missing} --channel train" in error and "--pipe-wait" in error


def test_a_reader_of_a_fifo_that_nobody_writes_says_so(labelled, tmp_path):
    os.mkfifo(tmp_path / "train_0")
    done = headrace("read", labelled, "--mode", "pipe", "--pairs", "--pipe-dir", tmp_path, "--pipe-wait", 3)
    assert done.returncode == 1
    waits, error = done.stderr.splitlines()
    assert f"waits up to 3 s for the first bytes in {tmp_path}/train_0" in waits
    assert "no program has opened it" in error and "start its writer" in error


def test_a_writer_without_a_reader_says_so_and_ends_when_told_to(labelled, tmp_path):
    writer = subprocess.Popen([HEADRACE, "pipe", labelled, "--dir", tmp_path], stderr=subprocess.PIPE, text=True)
    assert f"waits for a reader of {tmp_path}/train_0" in writer.stderr.readline()
    writer.send_signal(signal.SIGINT)
    assert writer.wait(30) == 130


# Promise C6: In a folder of one machine a second process does not write the same set, or the same
# part of it, at the same time; a killed one is in nobody's way.
@pytest.mark.parametrize("command", [("pack",), ("convert", "--format", "tfrecord")])
def test_two_of_them_at_once_into_one_set_are_told_apart_from_one_after_a_kill(large, tmp_path, command):
    out = tmp_path / "out"
    arguments = [HEADRACE, *command, large, "--out", out, "--jobs", "1", "--shards", "8"]
    first = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        while not (out / ".headrace/convert/out.lock").exists():
            assert first.poll() is None, first.communicate()
            time.sleep(0.001)
        first.send_signal(signal.SIGSTOP)
        assert first.poll() is None
        second = subprocess.run(arguments, capture_output=True, text=True)
        assert second.returncode == 1
        assert "another process is writing this set" in second.stderr and str(out) in second.stderr
        elsewhere = [*arguments[:arguments.index(out)], tmp_path / "other", *arguments[arguments.index(out) + 1:]]
        assert subprocess.run(elsewhere, capture_output=True).returncode == 0
    finally:
        first.kill()
        first.communicate()
    again = subprocess.run([*arguments, "--force"], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert not (out / ".headrace").exists()
    assert headrace_json("read", out, "--no-decode")["samples"] == 20000


# A disk with much to write takes seconds for a syncfs, and no signal ends the call.
@pytest.mark.parametrize("when", ["in the middle", "at the end"])
def test_a_fetch_that_is_stopped_does_not_wait_for_its_disk(when, large, labelled, hang_disk, tmp_path):
    source = large if when == "in the middle" else labelled
    hangs, copy = tmp_path / "hangs", tmp_path / "copy"
    hangs.touch()
    try:
        fetch = subprocess.Popen([HEADRACE, "fetch", source, copy], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=hang_disk(HANG_SYNC_WHILE=hangs))
        while not (tmp_path / "hangs.seen").exists():
            assert fetch.poll() is None, fetch.communicate()
            time.sleep(0.001)
        fetch.send_signal(signal.SIGINT)
        fetch.communicate(timeout=60)  # and nothing that is left behind holds its output
        assert fetch.returncode == 130
        again = headrace_json("fetch", source, copy)  # nor its folder
    finally:
        hangs.unlink()
    assert again["fetched_objects"] <= again["objects"] - (4096 if source == large else again["objects"])
    assert sets.samples(copy) == sets.samples(source)


def test_files_from_before_1970_and_after_2262_are_read_and_fetched(tmp_path):
    source = sets.folder(tmp_path / "set", 2, 3)
    files = sorted(source.rglob("*.jpg"))
    os.utime(files[0], ns=(-300_000_000_500_000_000, -300_000_000_500_000_000))  # 1960, and half a second
    os.utime(files[1], (20_000_000_000, 20_000_000_000))  # 2603
    copy = tmp_path / "copy"
    done = headrace("fetch", source, copy)
    assert done.returncode == 0, done.stderr
    assert (copy / files[0].relative_to(source)).stat().st_mtime_ns == files[0].stat().st_mtime_ns
    assert sets.samples(copy) == sets.samples(source)
    assert headrace_json("read", source, "--no-decode")["samples"] == 6


@pytest.mark.parametrize("command", [
    ("compare", "--modes", "direct", "--repeats", "1", "--report"), ("verify", "--report")])
def test_a_report_that_cannot_be_written_is_said_before_the_work(labelled, tmp_path, command):
    (tmp_path / "file").write_text("")
    done = headrace(command[0], labelled, *command[1:], tmp_path / "file/report.html")
    assert done.returncode == 1 and done.stdout == ""
    assert f"{tmp_path}/file" in done.stderr


def test_a_checkpoint_that_cannot_be_written_is_said_before_an_epoch(labelled, tmp_path):
    if not (HEADRACE.parent / "headrace-train").exists():
        pytest.skip("headrace-train was not built")
    (tmp_path / "file").write_text("")
    done = headrace("train", "--data", labelled, "--model", "resnet20", "--epochs", 1,
                    "--checkpoint", tmp_path / "file")
    assert done.returncode == 1 and "Epoch[0]" not in done.stdout
    assert f"{tmp_path}/file" in done.stderr


def test_an_error_is_one_line_whatever_names_hold(tmp_path):
    folder = tmp_path / "set" / "two\nlines\x1b[2J"
    folder.mkdir(parents=True)
    (folder / "cut.jpg").write_bytes(sets.picture(1)[:300])
    for arguments in (["read", tmp_path / "set"], ["pack", tmp_path / "set", "--out", tmp_path / "out"],
                      ["compare", tmp_path / "set", "--modes", "direct", "--repeats", 1]):
        done = headrace(*arguments)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1 and "\x1b" not in done.stderr, done.stderr
        assert "two\\nlines\\x1b[2J" in done.stderr


@pytest.mark.parametrize("command", [("pack",), ("convert", "--format", "tar")])
@pytest.mark.parametrize("form", ["folder", "recordio"])
def test_a_volume_that_is_full_is_named_with_the_need_and_left_as_it_was(volumes, tmp_path, command, form):
    source = sets.detailed_folder(tmp_path / "set", 120)
    if form == "recordio":
        source = sets.recordio(tmp_path / "set.rec", sets.samples(source))
    with volume(tmp_path, 8) as disk:
        before = sorted(disk.rglob("*"))
        done = headrace(*command, source, "--out", disk / "new" / "out")
        assert done.returncode == 1 and done.stdout == ""
        assert f"the volume at {disk}" in done.stderr and "exhausted" in done.stderr
        assert "need" in done.stderr and "free space" in done.stderr
        if command == ("pack",) or form == "folder":  # a convert that began can go on later
            assert sorted(disk.rglob("*")) == before


# Small pictures: a volume may have bytes left and no inodes.
def test_a_volume_that_holds_no_more_files_is_named_before_the_fetch(volumes, labelled, tmp_path):
    with volume(tmp_path, 16, "-N", "64") as disk:
        refused = headrace("fetch", labelled, disk / "copy")
        assert refused.returncode == 1 and "more files, 100 are needed" in refused.stderr, refused.stderr
        assert str(disk) in refused.stderr and not (disk / "copy").exists()
