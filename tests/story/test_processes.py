# SPDX-License-Identifier: Apache-2.0
"""How the process behaves: it ends when asked, and needs no more the longer it runs."""

import os
import pathlib
import re
import signal
import subprocess
import time

import pytest
import sets
from cli import HEADRACE, headrace_json


def start(*arguments, **options):
    return subprocess.Popen([HEADRACE, *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, **options)


# Promise P1: Ctrl-C ends any command within about a second, with exit code 130.
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_read(labelled, number):
    child = start("read", labelled, "--epochs", 1000, "--accelerator", "emulated:20", "--json")
    time.sleep(1)
    assert child.poll() is None
    child.send_signal(number)
    child.communicate(timeout=20)  # far above a second: this machine may be busy
    assert child.returncode == 130


def resources(pid):
    """(descriptors, threads, bytes of its own memory, which no file stands behind)."""
    process = pathlib.Path(f"/proc/{pid}")
    (anonymous,) = re.findall(r"^RssAnon:\s+(\d+) kB", (process / "status").read_text(), re.M)
    return len(os.listdir(process / "fd")), len(os.listdir(process / "task")), int(anonymous) * 1024


def watch(*arguments):
    """Runs to the end; resources seen on the way, a list of samples in time."""
    child = start(*arguments)
    seen = []
    while child.poll() is None:
        try:
            seen.append(resources(child.pid))
        except (OSError, ValueError):
            pass  # it ended between two looks
        time.sleep(0.02)
    assert child.wait(timeout=60) == 0, child.stderr.read()
    return seen


# Promise P3: Descriptors, threads and memory do not grow with the number of epochs or iterators.
def test_ten_epochs_need_no_more_than_one(labelled):
    seen = watch("read", labelled, "--epochs", 10, "--accelerator", "emulated:300", "--json")
    assert len(seen) > 40
    first, last = seen[len(seen) // 4 : len(seen) // 2], seen[-len(seen) // 4 :]
    for i, (kind, slack) in enumerate((("descriptors", 2), ("threads", 2), ("bytes", 8 << 20))):
        assert max(s[i] for s in last) <= max(s[i] for s in first) + slack, kind


# Promise P2: Memory of the process does not grow with the number of samples.
def test_a_million_records_need_as_much_memory_as_a_fifth_of_them(tmp_path):
    """Small tensors and few threads, so that the index would show (a record takes 16 bytes of it at least); the
    same work in flight, what is read ahead for the index included: that is why the smaller set is not tiny."""
    picture = sets.picture(1, width=8, height=8, kind="PNG", colours=1)
    peaks = []
    for count, epochs in ((200_000, 2), (1_000_000, 1)):
        folder = tmp_path / str(count)
        folder.mkdir()
        sets.recordio(folder / "train.rec", ((float(i % 10), picture) for i in range(count)))
        seen = watch("read", folder, "--size", 8, "--augment", "none", "--batch", 64, "--threads", 2,
                     "--epochs", epochs, "--json")
        peaks.append(max(s[2] for s in seen))
        (folder / "train.rec").unlink()
    assert peaks[1] <= peaks[0] + (10 << 20)
