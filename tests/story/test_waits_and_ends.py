# SPDX-License-Identifier: Apache-2.0
"""What a command says while it waits for another program, and what it leaves where it could not end well."""

import os
import signal
import subprocess
import time

import pytest
import sets
from cli import HEADRACE, headrace, headrace_json
from volume import available, volume


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


@pytest.fixture(scope="module")
def volumes(tmp_path_factory):
    if not available(tmp_path_factory.mktemp("probe")):
        pytest.skip("no loop devices here, or not root")


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
