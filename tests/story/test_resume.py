# SPDX-License-Identifier: Apache-2.0
"""A read that is killed and goes on gives what an unbroken one gives."""

import signal
import subprocess
import time

import pytest
import sets
from cli import HEADRACE, headrace, headrace_json

EPOCHS = 3


def job(batch=16, seed=7):
    return "--batch", batch, "--seed", seed, "--epochs", EPOCHS


JOB = job()


def digests(result):
    return {epoch["epoch"]: (epoch["order_digest"], epoch["set_digest"], epoch["delivered"])
            for epoch in result["epochs"]}


@pytest.fixture(scope="module")
def unbroken(labelled):
    return digests(headrace_json("read", labelled, *JOB))


def kill_after(seconds, *arguments):
    """Starts a read that takes about 40 samples a second, and kills it without warning."""
    child = subprocess.Popen([HEADRACE, *map(str, arguments), "--accelerator", "emulated:40"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    child.wait()


# Promise S1: A job killed at any moment and resumed ends the epoch with the digests of an unbroken
# run.
@pytest.mark.parametrize("seconds, threads", [(1.3, 1), (2.4, 2), (3.8, 4), (5.5, 3)])
def test_a_killed_read_goes_on(labelled, unbroken, tmp_path, seconds, threads):
    state = tmp_path / "state"
    kill_after(seconds, "read", labelled, *JOB, "--state", state)
    resumed = digests(headrace_json("read", labelled, *JOB, "--resume", state, "--threads", threads))
    assert EPOCHS - 1 in resumed
    assert resumed == {epoch: unbroken[epoch] for epoch in resumed}


def test_a_read_that_is_killed_again_and_again_ends_right(labelled, unbroken, tmp_path):
    state = tmp_path / "state"
    kill_after(1.5, "read", labelled, *JOB, "--state", state)
    for seconds in (1.2, 1.7, 1.4):
        kill_after(seconds, "read", labelled, *JOB, "--state", state, "--resume", state)
    resumed = digests(headrace_json("read", labelled, *JOB, "--resume", state))
    assert resumed == {epoch: unbroken[epoch] for epoch in resumed}


def test_one_rank_goes_on_as_two(labelled, unbroken, tmp_path):
    state = tmp_path / "state"
    kill_after(1.8, "read", labelled, *JOB, "--state", state)
    ranks = [digests(headrace_json("read", labelled, *job(batch=8), "--rank", rank,
                                   "--world-size", 2, "--resume", state)) for rank in range(2)]
    assert ranks[0].keys() == ranks[1].keys()
    for epoch in ranks[0]:
        for kind in range(2):
            total = sum(int(rank[epoch][kind], 16) for rank in ranks) & sets.MASK
            assert f"{total:032x}" == unbroken[epoch][kind]
        assert ranks[0][epoch][2] + ranks[1][epoch][2] == 100


def test_a_state_of_another_job_is_refused(labelled, tmp_path):
    state = tmp_path / "state"
    kill_after(1.5, "read", labelled, *JOB, "--state", state)
    other = sets.folder(tmp_path / "other", classes=3)
    for arguments, word in [((other, *JOB), "data set"), ((labelled, *job(seed=8)), "seed"),
                            ((labelled, *job(batch=5)), "batch")]:
        done = headrace("read", *arguments, "--resume", state)
        assert done.returncode == 1 and word in done.stderr, done.stderr
    (tmp_path / "garbage").write_text("hello\n")
    done = headrace("read", labelled, *JOB, "--resume", tmp_path / "garbage")
    assert done.returncode == 1 and "garbage" in done.stderr
